/** The panel's page. `asset` turns a path within the extension into an address that the page may load. */
export function panelPage(options: {
  readonly nonce: string;
  readonly cspSource: string;
  asset(path: string): string;
}): string {
  const { nonce, cspSource, asset } = options;
  // Output may bring its own styles (tables, pictures), never scripts, and nothing is fetched from anywhere.
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource} 'unsafe-inline'`,
    'img-src data:',
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Holdfast</title>
<link rel="stylesheet" href="${asset('media/panel.css')}">
<link rel="stylesheet" href="${asset('media/output.css')}">
</head>
<body>
<script nonce="${nonce}" src="${asset('dist/panel.js')}"></script>
</body>
</html>`;
}
