"""The definitions of the tools, and short ways to write down calls of them."""

from dataclasses import dataclass, field

from workspace import Workspace


def _schema(required: list[str], **properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_PATH = {"type": "string", "description": "A path from the root of the repository, with '/' on every system."}
_LINE = {"type": "integer", "minimum": 1}

TOOLS = [
    {
        "name": "read_file",
        "description": "The lines of a file with their numbers; all of them, or those from start_line to end_line.",
        "parameters": _schema(["path"], path=_PATH, start_line=_LINE, end_line=_LINE),
    },
    {
        "name": "list_files",
        "description": "The files below a folder, each with its size in bytes.",
        "parameters": _schema(["path"], path=_PATH),
    },
    {
        "name": "search",
        "description": "The lines of a file, or of all files below a folder, that contain a text as it stands.",
        "parameters": _schema(["text", "path"], text={"type": "string", "minLength": 1}, path=_PATH),
    },
    {
        "name": "outline",
        "description": "The definitions in a source file: functions, types, classes, with their line numbers.",
        "parameters": _schema(["path"], path=_PATH),
    },
    {
        "name": "count_lines",
        "description": "The number of lines of each file, and in total.",
        "parameters": _schema(["paths"], paths={"type": "array", "items": _PATH, "minItems": 1}),
    },
    {
        "name": "count_tokens",
        "description": "The number of tokens of a file or a text in a tiktoken encoding. Give path or text, not both.",
        "parameters": _schema(
            ["encoding"],
            encoding={"type": "string", "enum": ["cl100k_base", "o200k_base", "p50k_base", "r50k_base"]},
            path=_PATH,
            text={"type": "string"},
        ),
    },
    {
        "name": "read_json",
        "description": "The value of a key in a JSON file; keys of nested objects are joined by dots.",
        "parameters": _schema(["path", "key"], path=_PATH, key={"type": "string"}),
    },
    {
        "name": "write_note",
        "description": "Keeps a note for the person at the other end. Has to be approved.",
        "parameters": _schema(
            ["title", "text"],
            title={"type": "string", "maxLength": 40},
            text={"type": "string", "maxLength": 4000},
        ),
    },
    {
        "name": "run_tests",
        "description": "Runs a suite of `npm test`; takes minutes. Has to be approved.",
        "parameters": _schema(["suite"], suite={"type": "string"}),
    },
]

AUTO_APPROVED = ["read_file", "list_files", "search", "outline", "count_lines", "count_tokens", "read_json"]


@dataclass
class Call:
    name: str
    arguments: dict = field(default_factory=dict)
    #: "executed", "denied" or "aborted".
    outcome: str = "executed"
    #: What stands in the result of a call that was not executed.
    reason: str = ""
    #: Whether it is to fail.
    fails: bool = False


def read(path: str, start: int | None = None, end: int | None = None) -> Call:
    lines = {"start_line": start, "end_line": end}
    return Call("read_file", {"path": path, **{key: line for key, line in lines.items() if line is not None}})


def read_at(workspace: Workspace, path: str, text: str, before: int = 2, after: int = 30) -> Call:
    """Reads around the first line that has this text, wherever it stands by now."""
    line = workspace.line_of(path, text)
    return read(path, max(line - before, 1), min(line + after, workspace.line_count(path)))


def files(path: str) -> Call:
    return Call("list_files", {"path": path})


def search(text: str, path: str) -> Call:
    return Call("search", {"text": text, "path": path})


def outline(path: str) -> Call:
    return Call("outline", {"path": path})


def lines(*paths: str) -> Call:
    return Call("count_lines", {"paths": list(paths)})


def tokens(path: str, encoding: str = "cl100k_base") -> Call:
    return Call("count_tokens", {"encoding": encoding, "path": path})


def tokens_of(text: str, encoding: str = "cl100k_base") -> Call:
    return Call("count_tokens", {"encoding": encoding, "text": text})


def json_key(path: str, key: str) -> Call:
    return Call("read_json", {"path": path, "key": key})


def note(title: str, text: str) -> Call:
    return Call("write_note", {"title": title, "text": text})


def tests(suite: str) -> Call:
    return Call("run_tests", {"suite": suite})


def failing(call: Call) -> Call:
    call.fails = True
    return call


def denied(call: Call, reason: str) -> Call:
    call.outcome, call.reason = "denied", reason
    return call


def aborted(call: Call, reason: str) -> Call:
    call.outcome, call.reason = "aborted", reason
    return call
