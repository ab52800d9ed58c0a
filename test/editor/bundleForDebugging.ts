import { bundleEditorTests } from './bundle';

// The debugger's launch configuration loads what this leaves in out/test/editor.
await bundleEditorTests();
