// What to install by hand, by platform.
import { existsSync } from 'node:fs'

const HINTS = {
  rust: {
    darwin: 'Install it with rustup: https://rustup.rs (or `brew install rustup`).',
    win32: 'Install it with rustup: run rustup-init.exe from https://rustup.rs.',
    debian:
      'Install it with rustup: https://rustup.rs (or run as root: ' +
      'apt-get install rustc-web cargo-web rust-web-src rust-web-llvm lld-22 gcc libc6-dev).',
    other: 'Install it with rustup: https://rustup.rs.',
  },
  compiler: {
    darwin: "Install Apple's command line tools: xcode-select --install",
    win32: 'Install the Visual Studio Build Tools with the workload "Desktop development with C++".',
    debian: 'Run as root: apt-get install gcc libc6-dev',
    other: "Install gcc or clang with your system's package manager.",
  },
  chromium: {
    darwin: 'Install both: brew install --cask google-chrome chromedriver',
    win32:
      'Install Google Chrome, and the chromedriver of its version from ' +
      'https://googlechromelabs.github.io/chrome-for-testing/',
    debian: 'Run as root: apt-get install chromium chromium-driver',
    other: "Install Chromium and chromedriver with your system's package manager.",
  },
  python: {
    darwin: 'Install it: brew install python',
    win32: 'Install it: winget install Python.Python.3.13',
    debian: 'Run as root: apt-get install python3 python3-venv',
    other: "Install Python 3 with venv with your system's package manager.",
  },
}

const here = existsSync('/etc/debian_version') ? 'debian' : process.platform

/** A sentence on how to install `tool`: 'rust', 'compiler', 'chromium' or 'python'. */
export function hintFor(tool, platform = here) {
  return HINTS[tool][platform] ?? HINTS[tool].other
}
