import { PanelPage } from './panelPage';
import { connectHost } from './host';
import { parseToPanel } from './protocol';

const host = connectHost();
const page = new PanelPage(host);
document.body.append(page.element);
window.addEventListener('message', (event) => page.receive(parseToPanel(event.data)));
host.send({ type: 'ready' });
