/** The editor's default themes, as far as the panel uses their colours. Values are those that the editor sets on a page. */
export type ThemeName = 'dark' | 'light' | 'hc-dark' | 'hc-light';

export const themeNames: readonly ThemeName[] = ['dark', 'light', 'hc-dark', 'hc-light'];

type Colours = Readonly<Record<string, string>>;

const ansi = (...colours: string[]): Colours => {
  const names = ['Black', 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan', 'White'];
  const all = [...names, ...names.map((name) => `Bright${name}`)];
  return Object.fromEntries(all.map((name, i) => [`terminal-ansi${name}`, colours[i] ?? '']));
};

const fonts: Colours = {
  'font-family': '"Lato", system-ui, sans-serif',
  'font-size': '13px',
  'editor-font-family': '"DejaVu Sans Mono", monospace',
  'editor-font-size': '13px',
  'editor-font-weight': 'normal',
};

const dark: Colours = {
  foreground: '#cccccc',
  descriptionForeground: '#9d9d9d',
  errorForeground: '#f85149',
  focusBorder: '#0078d4',
  'icon-foreground': '#cccccc',
  'panel-background': '#181818',
  'panel-border': '#2b2b2b',
  'editor-background': '#1f1f1f',
  'editor-foreground': '#cccccc',
  'editorWarning-foreground': '#cca700',
  'editorInfo-foreground': '#59a4f9',
  'progressBar-background': '#0078d4',
  'testing-iconPassed': '#73c991',
  'textLink-foreground': '#4daafc',
  'textLink-activeForeground': '#4daafc',
  'toolbar-hoverBackground': '#5a5d5e50',
  'toolbar-activeBackground': '#63666750',
  'list-hoverBackground': '#2a2d2e',
  'badge-background': '#616161',
  'badge-foreground': '#f8f8f8',
  'button-background': '#0078d4',
  'button-foreground': '#ffffff',
  'button-hoverBackground': '#026ec1',
  'widget-shadow': '#0000005c',
  'input-background': '#313131',
  'input-foreground': '#cccccc',
  'input-border': '#3c3c3c',
  'input-placeholderForeground': '#989898',
  'inputValidation-infoBorder': '#007acc',
  'dropdown-background': '#313131',
  'dropdown-listBackground': '#1f1f1f',
  'dropdown-foreground': '#cccccc',
  'debugIcon-stopForeground': '#f48771',
  'debugTokenExpression-name': '#c586c0',
  'debugTokenExpression-string': '#ce9178',
  'debugTokenExpression-boolean': '#4e94ce',
  'debugTokenExpression-number': '#b5cea8',
  'symbolIcon-functionForeground': '#b180d7',
  'keybindingLabel-background': '#8080802b',
  'keybindingLabel-foreground': '#cccccc',
  'keybindingLabel-border': '#33333399',
  'keybindingLabel-bottomBorder': '#44444499',
  'scrollbarSlider-background': '#79797966',
  'terminal-foreground': '#cccccc',
  ...ansi('#000000', '#cd3131', '#0dbc79', '#e5e510', '#2472c8', '#bc3fbc', '#11a8cd', '#e5e5e5'),
  'terminal-ansiBrightBlack': '#666666',
  'terminal-ansiBrightRed': '#f14c4c',
  'terminal-ansiBrightGreen': '#23d18b',
  'terminal-ansiBrightYellow': '#f5f543',
  'terminal-ansiBrightBlue': '#3b8eea',
  'terminal-ansiBrightMagenta': '#d670d6',
  'terminal-ansiBrightCyan': '#29b8db',
  'terminal-ansiBrightWhite': '#e5e5e5',
};

const light: Colours = {
  ...dark,
  foreground: '#3b3b3b',
  descriptionForeground: '#3b3b3bbf',
  focusBorder: '#005fb8',
  'icon-foreground': '#3b3b3b',
  'panel-background': '#f8f8f8',
  'panel-border': '#e5e5e5',
  'editor-background': '#ffffff',
  'editor-foreground': '#3b3b3b',
  'editorWarning-foreground': '#bf8803',
  'editorInfo-foreground': '#0063d3',
  'progressBar-background': '#005fb8',
  'textLink-foreground': '#005fb8',
  'textLink-activeForeground': '#005fb8',
  'toolbar-hoverBackground': '#b8b8b850',
  'toolbar-activeBackground': '#a6a6a650',
  'list-hoverBackground': '#f2f2f2',
  'badge-background': '#cccccc',
  'badge-foreground': '#3b3b3b',
  'button-background': '#005fb8',
  'button-hoverBackground': '#0258a8',
  'widget-shadow': '#00000029',
  'input-background': '#ffffff',
  'input-foreground': '#3b3b3b',
  'input-border': '#cecece',
  'input-placeholderForeground': '#767676',
  'dropdown-background': '#ffffff',
  'dropdown-listBackground': '#ffffff',
  'dropdown-foreground': '#3b3b3b',
  'debugIcon-stopForeground': '#a1260d',
  'debugTokenExpression-name': '#9b46b0',
  'debugTokenExpression-string': '#a31515',
  'debugTokenExpression-boolean': '#0000ff',
  'debugTokenExpression-number': '#098658',
  'symbolIcon-functionForeground': '#652d90',
  'keybindingLabel-background': '#dddddd66',
  'keybindingLabel-foreground': '#3b3b3b',
  'keybindingLabel-border': '#cccccc66',
  'keybindingLabel-bottomBorder': '#bbbbbb66',
  'scrollbarSlider-background': '#64646466',
  'terminal-foreground': '#3b3b3b',
  ...ansi('#000000', '#cd3131', '#107c10', '#949800', '#0451a5', '#bc05bc', '#0598bc', '#555555'),
  'terminal-ansiBrightBlack': '#666666',
  'terminal-ansiBrightRed': '#cd3131',
  'terminal-ansiBrightGreen': '#14ce14',
  'terminal-ansiBrightYellow': '#b5ba00',
  'terminal-ansiBrightBlue': '#0451a5',
  'terminal-ansiBrightMagenta': '#bc05bc',
  'terminal-ansiBrightCyan': '#0598bc',
  'terminal-ansiBrightWhite': '#a5a5a5',
};

const without = (colours: Colours, ...names: string[]): Colours =>
  Object.fromEntries(Object.entries(colours).filter(([name]) => !names.includes(name)));

const unsetInContrast = [
  'toolbar-hoverBackground',
  'toolbar-activeBackground',
  'list-hoverBackground',
  'button-hoverBackground',
  'widget-shadow',
  'testing-iconPassed',
];

const hcDark: Colours = {
  ...without(dark, ...unsetInContrast),
  contrastBorder: '#6fc3df',
  contrastActiveBorder: '#f38518',
  foreground: '#ffffff',
  descriptionForeground: '#ffffffb3',
  errorForeground: '#f48771',
  focusBorder: '#f38518',
  'icon-foreground': '#ffffff',
  'panel-background': '#000000',
  'panel-border': '#6fc3df',
  'editor-background': '#000000',
  'editor-foreground': '#ffffff',
  'editorWarning-foreground': '#ffd370',
  'progressBar-background': '#6fc3df',
  'testing-iconPassed': '#73c991',
  'textLink-foreground': '#21a6ff',
  'textLink-activeForeground': '#21a6ff',
  'toolbar-hoverOutline': '#f38518',
  'badge-background': '#000000',
  'badge-foreground': '#ffffff',
  'button-background': '#000000',
  'button-border': '#6fc3df',
  'input-background': '#000000',
  'input-foreground': '#ffffff',
  'input-border': '#6fc3df',
  'input-placeholderForeground': '#ffffffb3',
  'inputValidation-infoBorder': '#6fc3df',
  'dropdown-background': '#000000',
  'dropdown-foreground': '#ffffff',
  'terminal-foreground': '#ffffff',
  'symbolIcon-functionForeground': '#b180d7',
  'keybindingLabel-border': '#6fc3df',
  'keybindingLabel-bottomBorder': '#6fc3df',
};

const hcLight: Colours = {
  ...without(light, ...unsetInContrast),
  contrastBorder: '#0f4a85',
  contrastActiveBorder: '#006bbd',
  foreground: '#292929',
  descriptionForeground: '#292929b3',
  errorForeground: '#b5200d',
  focusBorder: '#006bbd',
  'icon-foreground': '#292929',
  'panel-background': '#ffffff',
  'panel-border': '#0f4a85',
  'editor-foreground': '#292929',
  'editorWarning-foreground': '#895503',
  'progressBar-background': '#0f4a85',
  'testing-iconPassed': '#007100',
  'textLink-foreground': '#0f4a85',
  'textLink-activeForeground': '#0f4a85',
  'toolbar-hoverOutline': '#006bbd',
  'badge-background': '#0f4a85',
  'badge-foreground': '#ffffff',
  'button-background': '#0f4a85',
  'button-border': '#0f4a85',
  'input-border': '#0f4a85',
  'input-foreground': '#292929',
  'input-placeholderForeground': '#292929b3',
  'dropdown-foreground': '#0f4a85',
  'terminal-foreground': '#292929',
  'keybindingLabel-border': '#0f4a85',
  'keybindingLabel-bottomBorder': '#0f4a85',
};

interface Theme {
  readonly bodyClass: string;
  /** As declarations for the root element. */
  readonly variables: string;
  readonly background: string;
}

const classes: Readonly<Record<ThemeName, string>> = {
  dark: 'vscode-dark',
  light: 'vscode-light',
  'hc-dark': 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast vscode-high-contrast-light',
};

const colours: Readonly<Record<ThemeName, Colours>> = {
  dark,
  light,
  'hc-dark': hcDark,
  'hc-light': hcLight,
};

export function theme(name: ThemeName): Theme {
  const values = { ...colours[name], ...fonts };
  const variables = Object.entries(values).map(([key, value]) => `--vscode-${key}: ${value};`);
  return {
    bodyClass: classes[name],
    variables: variables.join('\n'),
    background: colours[name]['panel-background'] ?? '#000',
  };
}
