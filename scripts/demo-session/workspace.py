"""The tools of the demo's assistant. All but `run_tests` work on the files of this repository, and only read them."""

import json
import re
from pathlib import Path

import tiktoken

MAX_HITS = 24
DEFINITION = re.compile(
    r"^\s*(pub(\([a-z]+\))? |export |async |static |default )*"
    r"(fn|struct|enum|trait|impl|mod|const|function|class|interface|type) ?\S"
)

SPECIAL_TOKEN = re.compile(r"<\|[a-z_]+\|>")


class Gone(Exception):
    """A chapter asks for something that the repository no longer has."""


class Workspace:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.ignored = {
            line.strip("/") for line in (root / ".gitignore").read_text().splitlines() if line.startswith("/")
        }

    def run(self, name: str, arguments: dict) -> str:
        """The result of a tool call; a call that fails gives a text that says so."""
        try:
            result = getattr(self, name)(**arguments)
        except Gone as gone:
            return f"error: {gone}"
        if special := SPECIAL_TOKEN.search(result):
            raise Gone(f"The reference cannot count a text with {special[0]}, which {name} with {arguments} gives.")
        return result

    # The tools.

    def read_file(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        lines = self.lines_of(path)
        end = min(end_line or len(lines), len(lines))
        width = len(str(end))
        shown = (f"{number:>{width}}  {lines[number - 1]}".rstrip() for number in range(start_line, end + 1))
        return "\n".join(shown)

    def list_files(self, path: str) -> str:
        return "\n".join(f"{file.stat().st_size:>7}  {self.name_of(file)}" for file in self.files_under(path))

    def search(self, text: str, path: str) -> str:
        hits = [
            f"{self.name_of(file)}:{number}: {line.strip()}"
            for file in self.files_under(path)
            for number, line in enumerate(self.lines_of(self.name_of(file)), 1)
            if text in line
        ]
        if not hits:
            return f"no line under {path} has {text!r}"
        rest = len(hits) - MAX_HITS
        return "\n".join(hits[:MAX_HITS] + ([f"({rest} more)"] if rest > 0 else []))

    def outline(self, path: str) -> str:
        lines = enumerate(self.lines_of(path), 1)
        return "\n".join(f"{number:>4}  {line.rstrip(' {')}" for number, line in lines if DEFINITION.match(line))

    def count_lines(self, paths: list[str]) -> str:
        counts = [(self.name_of(file), self.line_count(self.name_of(file)))
                  for path in paths for file in self.files_under(path)]
        table = [f"{count:>6}  {name}" for name, count in counts]
        return "\n".join([*table, f"{sum(count for _, count in counts):>6}  total of {len(counts)} files"])

    def count_tokens(self, encoding: str, path: str | None = None, text: str | None = None) -> str:
        counted = text if path is None else self.text_of(path)
        return str(self.token_count(counted, encoding))

    def read_json(self, path: str, key: str) -> str:
        value = json.loads(self.text_of(path))
        for part in key.split("."):
            if part not in value:
                raise Gone(f"{path} has no {key}.")
            value = value[part]
        return json.dumps(value, indent=2, ensure_ascii=False)

    def write_note(self, title: str, text: str) -> str:
        return f"kept under '{title}' ({len(text)} characters)"

    # What the chapters ask for themselves.

    def line_count(self, path: str) -> int:
        """The number of lines of a file, or of all files of a folder."""
        return sum(len(self.lines_of(self.name_of(file))) for file in self.files_under(path))

    def file_count(self, path: str) -> int:
        return len(self.files_under(path))

    def token_count(self, text: str, encoding: str = "cl100k_base") -> int:
        return len(tiktoken.get_encoding(encoding).encode(text))

    def line_of(self, path: str, text: str) -> int:
        """The number of the first line of a file that has this text."""
        for number, line in enumerate(self.lines_of(path), 1):
            if text in line:
                return number
        raise Gone(f"No line of {path} has {text!r} any more.")

    # Files.

    def text_of(self, path: str) -> str:
        file = self.root / path
        if not file.is_file():
            raise Gone(f"There is no file {path}.")
        return file.read_text(encoding="utf-8")

    def lines_of(self, path: str) -> list[str]:
        return self.text_of(path).splitlines()

    def files_under(self, path: str) -> list[Path]:
        start = self.root / path
        if not start.exists():
            raise Gone(f"There is no {path}.")
        found = [start] if start.is_file() else [file for file in sorted(start.rglob("*")) if file.is_file()]
        return [file for file in found if file.relative_to(self.root).parts[0] not in self.ignored]

    def name_of(self, file: Path) -> str:
        return file.relative_to(self.root).as_posix()
