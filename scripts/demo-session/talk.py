"""Writes a conversation into a session of the reference, step by step as its agent loop does."""

import datetime
import json
import random

from peteos.conversation import ContentPart, Context, Message, Session, SystemPromptMessage, ToolDefinitionsMessage
from peteos.conversation.message import ToolApprovalStatus, ToolExecutionStatus

from tools import AUTO_APPROVED, TOOLS, Call
from workspace import Gone, Workspace

SYSTEM_PROMPT = """\
You are the assistant of the people who maintain peteos-session, an npm package and a Rust crate: a session for \
agents, kept as JSON on disk, with rolling windows over its messages.

You can read the repository, not change it. Look things up before you answer, several at once where they do not \
depend on each other. Name files by their path from the root. Say when you have not verified something. Answer in the \
language of the question, briefly; code and names of files stay as they are."""

# What the agent loop of the reference gives the messages with results; `tool` are the definitions there.
RESULT_ROLE = "tool_result"


class Talk:
    def __init__(self, parent_dir: str, workspace: Workspace) -> None:
        self._workspace = workspace
        self._random = random.Random(7)
        self._clock = datetime.datetime.combine(datetime.date.today(), datetime.time(9, 2, 11))
        self._calls = 0
        system_prompt = SystemPromptMessage.create(SYSTEM_PROMPT)
        tool_definitions = ToolDefinitionsMessage()
        self._session = Session.create(parent_dir, system_prompt, tool_definitions)
        self._session.register_hook(system_prompt, "project_rooms", self._rooms)
        self._session.register_hook(tool_definitions, ToolDefinitionsMessage.TOOL_LIST_HOOK_NAME, self._tool_list)
        self._session.auto_approve_tools.extend(AUTO_APPROVED)
        self._session.materialize()
        for message in (system_prompt, tool_definitions):
            self._stamp(message)
        self._session.save()

    # What the chapters call.

    def user(self, text: str, *images: dict, channel: str = "shell") -> None:
        """A person says something, with pictures where there are some."""
        self._wait(20, 400)
        parts = [ContentPart.create_text(text), *map(ContentPart.create_image, images)]
        self._append(Message.create("user", parts, {"channel": channel}))

    def step(self, thought: str, *calls: Call, text: str = "") -> list[str]:
        """The assistant thinks and calls tools, all at once; returns their results."""
        self._wait(3, 14)
        uses = [self._use(call) for call in calls]
        parts = [ContentPart.create_thinking(thought)] if thought else []
        parts += [ContentPart.create_text(text)] if text else []
        message = Message.create("assistant", parts + uses, self._metadata("tool_use"))
        self._append(message)

        # As in the reference: results have an anchor of their own, so that what is said while tools run comes after.
        results = [ContentPart.create_tool_result(use.call_id, "") for use in uses]
        context = self._context
        anchor = f"{message.id}:tool_result"
        context.add_anchor(anchor, context.get_anchor_msg_index("messages"), after_existing=False)
        self._append(Message.create(RESULT_ROLE, results), anchor)
        for call, use, result in zip(calls, uses, results):
            self._settle(call, use, result)
        self._session.save()
        return [result.content for result in results]

    def say(self, text: str, thought: str = "") -> None:
        """The assistant answers."""
        self._wait(4, 25)
        parts = [ContentPart.create_thinking(thought)] if thought else []
        self._append(Message.create("assistant", [*parts, ContentPart.create_text(text)], self._metadata("end_turn")))
        self._session.save()

    def cut_off(self, thought: str, lost: str) -> None:
        """The assistant runs into the limit of its answer; what was being written is set aside."""
        self._wait(30, 60)
        message = Message.create("assistant", [ContentPart.create_thinking(thought)], self._metadata("max_tokens"))
        message.raw_dict["truncated_content_part"] = ContentPart.create_text(lost).raw_dict
        self._append(message)
        self._wait(0, 1)
        note = "Your last answer was cut off at the limit. Give a shorter one."
        self._append(Message.create("user", [ContentPart.create_text(note)], {"channel": "system"}))

    def keep(self, name: str, value: str) -> None:
        """Puts a variable into the state of the session."""
        state = self._session.state
        current = state.get(name)
        state.create(name, value) if current is None else state.update(name, current, value)

    def window(self, max_tokens: int) -> None:
        """The context becomes too long for the model: the reference's token window makes a new one."""
        self._session.save()
        if self._session.rolling_token_window(max_tokens) is None:
            raise Gone(f"The context fits {max_tokens} tokens, so that the window drops nothing.")
        self._session.save()

    def finish(self) -> str:
        self._session.save()
        return self._session.uuid

    # How messages are made.

    @property
    def _context(self) -> Context:
        return self._session.active_context

    def _append(self, message: Message, anchor: str = "messages") -> None:
        self._stamp(message)
        self._context.append(message, anchor)

    def _stamp(self, message: Message) -> None:
        """All is made within a second; the time that a message carries is that of the story."""
        message.raw_dict["creation_timestamp"] = self._clock.isoformat()

    def _wait(self, least: int, most: int) -> None:
        seconds = self._random.uniform(least, most)
        self._clock += datetime.timedelta(microseconds=int(seconds * 1_000_000))

    def _metadata(self, stop_reason: str) -> dict:
        return {
            "model": "demo-assistant-1",
            "stop_reason": stop_reason,
            "temperature": 1.0,
            "seconds": round(self._random.uniform(0.8, 9.5), 2),
        }

    def _use(self, call: Call) -> ContentPart:
        self._calls += 1
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        return ContentPart.create_tool_use(f"call_{self._calls:04}", call.name, arguments)

    def _settle(self, call: Call, use: ContentPart, result: ContentPart) -> None:
        if call.outcome == "denied":
            use.set_approval_status(ToolApprovalStatus.DENIED)
            result.set_execution_status(ToolExecutionStatus.DENIED)
            result.set_tool_result_content(f"denied: {call.reason}")
            return
        use.set_approval_status(ToolApprovalStatus.APPROVED)
        if call.outcome == "aborted":
            result.set_execution_status(ToolExecutionStatus.ABORTED)
            result.set_tool_result_content(f"aborted: {call.reason}")
            return
        output = self._workspace.run(call.name, call.arguments)
        if output.startswith("error: ") != call.fails:
            raise Gone(f"{call.name} with {call.arguments} gave: {output}")
        result.set_execution_status(ToolExecutionStatus.EXECUTED)
        result.set_tool_result_content(output)
        if call.name == "write_note":
            self.keep(f"note:{call.arguments['title']}", call.arguments["text"])

    # Hooks.

    def _rooms(self) -> str:
        rooms = [f"- {path}: {self._workspace.file_count(path)} files" for path in ("src", "js", "scripts")]
        return "\n".join(["The repository holds:", *rooms])

    def _tool_list(self) -> str:
        return json.dumps(TOOLS)
