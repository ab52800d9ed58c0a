type Child = Node | string | undefined;

interface Properties {
  readonly class?: string;
  readonly title?: string;
  readonly [attribute: `aria-${string}`]: string;
  readonly [attribute: string]: string | undefined;
}

/** An element with attributes and children; an attribute that is undefined is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (value !== undefined) element.setAttribute(name, value);
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** A button that says what it does to everybody: as its tooltip and as its name. */
export function iconButton(label: string, icon: Node, onClick: () => void): HTMLButtonElement {
  const button = el(
    'button',
    { type: 'button', class: 'icon-button', title: label, 'aria-label': label },
    icon,
  );
  button.addEventListener('click', onClick);
  return button;
}

export function textButton(
  label: string,
  className: string,
  onClick: () => void,
): HTMLButtonElement {
  const button = el('button', { type: 'button', class: className }, label);
  button.addEventListener('click', onClick);
  return button;
}

/** Sets a text only where it differs, so that nothing is laid out again for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
