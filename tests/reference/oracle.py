"""Drives the Python package peteos: one JSON command per line on standard input, one JSON answer per line on standard output.

A *world* is a session with the contexts that were created in it. `open` creates one, `step` runs an operation in it,
`close` drops it, `run` does all three. Random ids and times are replaced by descriptive names ("context-2"), so that the
answers can be compared with those of another implementation. JSON values are passed as JSON text, which keeps the text of
numbers.

Without the argument `as-is` the faults of the package that tests/reference/faults*.test.mjs show are patched, because
each of them would hide other differences: see `repair`.
"""
import contextlib
import copy
import io
import json
import logging
import re
import shutil
import sys
import tempfile
from pathlib import Path

with contextlib.redirect_stdout(io.StringIO()):  # its import prints
    import peteos.utils.json
    import peteos.utils.tiktoken
    import tiktoken
    from peteos.conversation.context import Context
    from peteos.conversation.message import ContentPart, Message
    from peteos.conversation.message_registry import MessageRegistry
    from peteos.conversation.session import Session
    from peteos.conversation.system_prompt_message import SystemPromptMessage
    from peteos.conversation.tool_definitions_message import ToolDefinitionsMessage

logging.disable(logging.CRITICAL)

AS_IS = "as-is" in sys.argv[1:]
SCRATCH = Path(tempfile.mkdtemp(prefix="peteos-oracle-"))
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
NAMED = re.compile(rf"\d{{8}}-{UUID}|{UUID}|\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}}")
NOW = re.compile(r"(?!2001)\d{4}-\d\d-\d\dT")  # times that are given are of 2001


class Note(Message):
    """Subclasses of messages, as programs define them: the package only reads registered types."""


class Persona(SystemPromptMessage):
    def materialize(self, materialized_hooks=None, content_map=None):
        pass


class Toolbox(ToolDefinitionsMessage):
    def materialize(self, materialized_hooks=None, content_map=None):
        pass


def repair():
    count_with = peteos.utils.tiktoken.tiktoken.get_encoding
    peteos.utils.tiktoken.count_tiktoken = lambda text, encoding="cl100k_base": len(
        count_with(encoding).encode(text, disallowed_special=())
    )

    def count_tokens(self, encoding="cl100k_base"):
        if encoding == "cl100k_base" and "token_count" in self.raw_dict:
            return self.raw_dict["token_count"]
        return self._compute_token_count(encoding)

    Message.count_tokens = count_tokens

    save = Context.save

    def save_with_anchor_sequences(self, session_dir):
        if self._anchor_sequences:
            self.raw_dict["_anchor_sequences"] = list(self._anchor_sequences)
        save(self, session_dir)

    Context.save = save_with_anchor_sequences

    register_hook = Session.register_hook

    def register_hook_once(self, message, name, callback):
        hook_id = self._make_hook_id(name)
        if hook_id not in message.hook_ids:
            return register_hook(self, message, name, callback)
        self._message_hooks[hook_id] = callback
        return hook_id

    Session.register_hook = register_hook_once
    # A session that is collected overwrites its files.
    del Session.__del__
    # Not a fault, but slow: json5 takes ten seconds for a megabyte. The tests of files on disk use it unpatched.
    peteos.utils.json._json = json


if not AS_IS:
    repair()


class World:
    def __init__(self, start):
        self.plain = start.get("plain", False)
        self.names = {}
        self.counts = {}
        self.shown = {}
        self.own_directory = None
        self.parent = start.get("parent")
        if self.parent is None:
            self.own_directory = self.parent = tempfile.mkdtemp(dir=SCRATCH)
        if "files" in start:
            directory = Path(self.parent) / start["uuid"]
            directory.mkdir(parents=True)
            for name, text in start["files"].items():
                (directory / name).write_text(text, encoding="utf-8")
        if "uuid" in start:
            self.use(Session.load(self.parent, start["uuid"]))
        else:
            specials = [special(start.get(kind), kind) for kind in ("system", "tools")]
            self.use(Session.create(self.parent, *[message for message, _ in specials]))
            self.name("session", self.session.uuid)
            self.name("context", self.session.active_context_id)
            for message, given in specials:
                self.name_new(message, given)

    def use(self, session):
        self.session = session
        self.contexts = [session.active_context] if session.active_context else []

    def close(self):
        self.session._autosave = False
        if self.own_directory:
            shutil.rmtree(self.own_directory, ignore_errors=True)

    # Names

    def name(self, kind, value):
        number = self.counts[kind] = self.counts.get(kind, 0) + 1
        self.names[value] = f"{kind}-{number}"

    def name_new(self, message, given):
        """Names the generated id of a message."""
        if message is not None and "id" not in given:
            self.name("message", message.id)

    def text(self, value):
        return self.named(json.dumps(value, separators=(",", ":")))

    def named(self, text):
        if self.plain:
            return text
        return NAMED.sub(lambda match: "now" if NOW.match(match[0]) else self.names.get(match[0], match[0]), text)

    # Dumps

    def dump(self, context):
        fields = {key: value for key, value in context.raw_dict.items() if key != "_anchor_sequences"}
        return self.text({**fields, "(anchor sequences)": context._anchor_sequences})

    def changes(self):
        """The dumps of the contexts that changed since their last dump."""
        changed = {}
        for context in self.contexts:
            text = self.dump(context)
            key = self.named(context.id)
            if self.shown.get(key) != text:
                self.shown[key] = changed[key] = text
        return changed

    # Steps

    def step(self, step):
        try:
            result = getattr(self, "do_" + step["do"])(**{key: value for key, value in step.items() if key != "do"})
        except Exception as error:  # noqa: BLE001
            result = {"error": type(error).__name__, "message": str(error)}
        active = self.session.active_context_id
        return {"result": result, "active": active and self.named(active), "dumps": self.changes()}

    def context(self, on):
        return self.contexts[on % len(self.contexts)]

    def made(self, child):
        """Records a new context, if there is one."""
        if child is None:
            return {"context": None}
        self.name("context", child.id)
        self.separate(child)
        self.contexts.append(child)
        return {"context": self.named(child.id)}

    @staticmethod
    def separate(child):
        """A fork shares the lists in its messages with its parent."""
        if not AS_IS:
            for message in child.messages:
                message.raw_dict.update(copy.deepcopy(message.raw_dict))

    def do_append(self, message, on=0, anchor="messages"):
        given = json.loads(message)
        message = Message.from_dict(dict(given))
        self.context(on).append(message, anchor_point=anchor)
        self.name_new(message, given)
        return {}

    def do_addAnchor(self, name, index, on=0, after=True):
        self.context(on).add_anchor(name, index, after_existing=after)
        return {}

    def do_update(self, message, changes, on=0):
        """Changes a message directly, because there is no call for it, and removes its outdated count."""
        messages = self.context(on).messages
        fields = messages[message % len(messages)].raw_dict
        fields.update(json.loads(changes))
        if "content" in json.loads(changes):
            fields.pop("token_count", None)
        return {}

    def do_approve(self, message, part, on=0):
        """Sets the approval status of a part through the package's own class."""
        status = type("Status", (), {"value": "approved"})
        self.context(on).messages[message].content[part].set_approval_status(status)
        return {}

    def do_fork(self, on=0, start=None, end=None, system=None, tools=None):
        context = self.context(on)
        new = {}
        for kind, text in (("system", system), ("tools", tools)):
            if text == "same":
                new[kind] = (getattr(context, SPECIALS[kind][1]), {"id": ""})
            else:
                new[kind] = special(text, kind)
        child = context.fork_insert_sequence(
            start=start, end=end, system_prompt_message=new["system"][0], tool_definitions_message=new["tools"][0]
        )
        for message, given in new.values():
            self.name_new(message, given)
        return self.made(child)

    def do_stripThinking(self, on=0):
        """Only the messages: the anchors and counters are wrong once a message was dropped."""
        parent = self.context(on)
        child = parent.strip_thinking()
        messages = [{k: v for k, v in m.raw_dict.items() if k != "_sequence_number"} for m in child.messages]
        if len(child.messages) == len(parent.messages):
            return {**self.made(child), "messages": self.text(messages)}
        self.name("context", child.id)
        return {"messages": self.text(messages)}

    def do_stripThinkingAsItIs(self, on=0):
        return self.made(self.context(on).strip_thinking())

    def do_sequenceWindow(self, count, on=0):
        return self.made(self.context(on).rolling_sequence_window(count))

    def do_tokenWindow(self, budget, encoding="cl100k_base", on=0):
        return self.made(self.context(on).rolling_token_window(budget, encoding))

    def do_sessionSequenceWindow(self, count):
        return self.made(self.session.rolling_sequence_window(count))

    def do_sessionTokenWindow(self, budget, encoding="cl100k_base"):
        return self.made(self.session.rolling_token_window(budget, encoding))

    def do_sweep(self, counts, budgets, on=0):
        """Many windows of one context, which are dumped and dropped."""
        context = self.context(on)
        windows = [context.rolling_sequence_window(count) for count in counts]
        windows += [context.rolling_token_window(budget, encoding) for encoding, budget in budgets]
        for window in windows:
            if window is not None:
                self.name("context", window.id)
        return {"windows": [window and self.dump(window) for window in windows]}

    def do_count(self, encodings, on=0):
        context = self.context(on)
        tokens = {name: [message.count_tokens(name) for message in context.messages] for name in encodings}
        return {"tokens": tokens, "totals": {name: context.total_token_count(name) for name in encodings}}

    def do_specials(self, on=0):
        context = self.context(on)
        found = [getattr(context, attribute) for _, attribute in SPECIALS.values()]
        return {"specials": [message and self.named(message.id) for message in found]}

    def do_activate(self, on=0):
        self.session.set_active_context(self.context(on))
        return {}

    def do_save(self):
        self.session.save()
        names = ["session.json", f"{self.session.active_context_id}.json"]
        return {"files": {self.named(name): self.named(self.read(name)) for name in names}}

    def do_saveOnFullDisk(self, bytes):
        """Saves with a limit on the file size, as on a disk that is almost full."""
        import resource

        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, limits[1]))
        try:
            self.session.save()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        return {}

    def do_files(self):
        """All files of the session, unchanged."""
        return {"files": {path.name: self.read(path.name) for path in sorted(self.session.session_dir.iterdir())}}

    def read(self, name):
        return (self.session.session_dir / name).read_text(encoding="utf-8")

    def do_load(self, collect=False):
        """Loads the files. The previous session does not save itself, unless it is to be collected."""
        before = self.session
        before._autosave = collect
        self.use(Session.load(self.parent, before.uuid))
        return {}

    def do_reload(self):
        self.session.save()
        return self.do_load()

    def do_collect(self):
        """Drops the session, as a program does when it ends."""
        uuid = self.session.uuid
        self.contexts = []
        self.session = None
        self.session = Session(self.parent, {"uuid": uuid})
        self.session._autosave = False
        return {}

    def do_hook(self, message, name, text):
        messages = self.session.active_context.messages
        return {"id": self.session.register_hook(messages[message % len(messages)], name, lambda: text)}

    def do_materialize(self):
        self.session.materialize()
        return {}

    def do_deactivate(self):
        """Leaves the session without an active context, like a hand-written one."""
        self.session._active_context = None
        self.session.raw_dict["active_context_id"] = None
        return {}

    def do_state(self, call, args=()):
        return {"value": getattr(self.session.state, call)(*args)}

    def do_setActive(self, value):
        self.session.is_active = value
        return {"value": self.session.is_active}

    def do_setAutoApprove(self, tools):
        self.session.raw_dict["auto_approve_tools"] = tools
        return {"value": self.session.auto_approve_tools}

    def do_dumps(self):
        return {"dumps": [self.dump(context) for context in self.contexts]}

    def do_ids(self):
        return {
            "uuid": self.session.uuid,
            "directory": str(self.session.session_dir),
            "contexts": [context.id for context in self.contexts],
        }


SPECIALS = {
    "system": (SystemPromptMessage, "system_prompt_message"),
    "tools": (ToolDefinitionsMessage, "tool_definitions_message"),
}


def special(text, kind):
    """A special message from its JSON text, and the fields that were given."""
    if text is None:
        return None, None
    given = json.loads(text)
    usual = SPECIALS[kind][0]
    return (MessageRegistry.get(given.get("_type", "")) or usual)(dict(given)), given


def texts(values, encodings, before=""):
    """The json.dumps text of each value, and the tokens of it after a prefix."""
    written = [json.dumps(json.loads(value), ensure_ascii=False) for value in values]
    counters = [tiktoken.get_encoding(name) for name in encodings]
    counts = [[len(counter.encode(before + text, disallowed_special=())) for counter in counters] for text in written]
    return {"texts": written, "counts": counts}


def factories():
    """The results of the package's factories."""
    source = {"type": "url", "url": "https://example.org/a"}
    parts = {
        "text": ContentPart.create_text("é"),
        "thinking": ContentPart.create_thinking("hm"),
        "image": ContentPart.create_image(source),
        "video": ContentPart.create_video(source),
        "audio": ContentPart.create_audio(source),
        "pdf": ContentPart.create_pdf(source),
        "toolUse": ContentPart.create_tool_use("c1", "read", '{"a": 1.0}'),
        "toolResult": ContentPart.create_tool_result("c1", "done"),
        "tool": ContentPart.create_tool("read", "Reads", {"type": "object"}),
    }
    messages = {
        "message": Message.create("user", [parts["text"]]),
        "messageWithMetadata": Message.create("user", [], {"a": 1}),
        "systemPrompt": SystemPromptMessage.create("Be kind."),
        "emptySystemPrompt": SystemPromptMessage.create(),
    }
    return {name: json.dumps(item.raw_dict) for name, item in {**parts, **messages}.items()}


WORLDS = {}


def answer(command):
    do = command["do"]
    if do == "run":
        world = World(command["start"])
        steps = [world.step(step) for step in command["steps"]]
        world.close()
        return {"steps": steps}
    if do == "open":
        WORLDS[command["world"]] = World(command["start"])
        return {}
    if do == "step":
        return WORLDS[command["world"]].step(command["step"])
    if do == "close":
        WORLDS.pop(command["world"]).close()
        return {}
    if do == "texts":
        return texts(command["values"], command["encodings"], command["before"])
    if do == "factories":
        return factories()
    if do == "version":
        return {"package": peteos.__file__, "encodings": tiktoken.list_encoding_names()}
    raise ValueError(f"no such command: {do}")


def main():
    for line in sys.stdin.buffer:
        try:
            result = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001
            result = {"error": type(error).__name__, "message": str(error)}
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
    for world in WORLDS.values():
        world.close()


try:
    main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
