import fs from 'node:fs';
import path from 'node:path';

/**
 * Two native modules of the server would need a C++ compiler. Their stand-ins do what the server asks of them here:
 * write log lines to a file, and start a watchdog (an extension host ends on its own when its server's socket closes).
 */
export function placeStandIns(server: string): void {
  place(server, '@vscode/spdlog', spdlog);
  place(server, '@vscode/native-watchdog', 'exports.start = () => {};\n');
}

function place(server: string, name: string, source: string): void {
  const folder = path.join(server, 'node_modules', name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const manifest = { name, version: '0.0.0-stand-in', main: 'index.js' };
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  fs.writeFileSync(path.join(folder, 'index.js'), source);
}

// One assignment per exported name: an import() of a CommonJS module finds its names by reading the text.
const spdlog = `'use strict';
const fs = require('node:fs');
const path = require('node:path');
const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

class Logger {
  constructor(file) {
    this.file = file;
    this.level = 2;
    this.plain = false;
    fs.mkdirSync(path.dirname(file), { recursive: true });
  }
  write(level, message) {
    if (level < this.level) return;
    const stamp = new Date().toISOString().replace('T', ' ').replace('Z', '');
    const line = this.plain ? message : stamp + ' [' + levels[level] + '] ' + message + '\\n';
    try {
      fs.appendFileSync(this.file, line);
    } catch {
      // The folder of a finished run may be gone already, and a log has nobody to tell.
    }
  }
  trace(message) { this.write(0, message); }
  debug(message) { this.write(1, message); }
  info(message) { this.write(2, message); }
  warn(message) { this.write(3, message); }
  error(message) { this.write(4, message); }
  critical(message) { this.write(5, message); }
  getLevel() { return this.level; }
  setLevel(level) { this.level = level; }
  setPattern() { this.plain = false; }
  clearFormatters() { this.plain = true; }
  flush() {}
  drop() {}
}

const create = async (_name, file) => new Logger(file);
exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.shutdown = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
`;
