"""The JavaScript surface, and the package in a browser."""

from talk import Talk
from tools import json_key, lines, outline, read, read_at, search
from workspace import Workspace


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "the surface as a user sees it")

    talk.user("Let's look at it as a user. What do I import, what do I get?")
    talk.step("", read("js/index.ts"), outline("js/messages.ts"))
    talk.say(
        "`Session` and `Context` to work with; `Message`, `SystemPromptMessage`, `ToolDefinitionsMessage` and "
        "`ContentPart` to make plain objects; `countTokens`, `encodingForModel`, `loadEncoding`; `MemoryStorage`; `init` "
        "for browsers; every error class; and all types. The factories are sugar: a literal `{ role: 'user', content: "
        "[{ type: 'text', text: 'Hi' }] }` serves just as well."
    )

    talk.user("messages is frozen. I wanted to edit one in place and got a TypeError. Intended?")
    talk.step("json.ts freezes, message-snapshots.ts caches.",
              read_at(repo, "js/json.ts", "export function fromJsonText", 4, 14), read("js/message-snapshots.ts"))
    talk.say(
        "Intended. What you see is a snapshot; the original lives in Rust. An edit in place would change your copy and "
        "be lost at the next save without a word, and a `TypeError` is kinder. Use `context.updateMessage(id, changes)`. "
        "The snapshots are cheap: each message crosses once, and the list is made anew only after a change, from objects "
        "that are known already."
    )

    talk.user("Is session.activeContext === session.activeContext guaranteed?")
    talk.step("", read_at(repo, "js/session.ts", "get activeContext()", 1, 8), read_at(repo, "js/session.ts", "#object(handle", 1, 22))
    talk.say(
        "Yes. The session keeps the object of the active context and asks Rust whether it still is the one. Other "
        "contexts are kept in `WeakRef`s by id, so that `loadContext` gives you the same object as long as you hold it, "
        "and lets it go when you don't. What a window returned is the object that `activeContext` then holds."
    )

    talk.user("ブラウザで使うときの手順を教えてください。init は必ず必要ですか？")
    talk.step("ブラウザ用の入口と init を確認する。", read("js/entry/browser.ts"),
              read_at(repo, "js/runtime.ts", "export async function init", 8, 8))
    talk.say(
        "はい、ブラウザでは最初に一度だけ `await init()` が必要です。WebAssembly を `fetch` で読み込むためです。何度呼んでも読み込みは"
        "一回だけで、失敗したときは次の呼び出しでもう一度試します。トークンを数えるなら `await loadEncoding('o200k_base')` も呼んで"
        "ください。`Session.load` と `Session.list` は自分で `init` を待つので、その前に呼ぶ必要はありません。Node では何も要りません。"
    )
    talk.user("なるほど。語彙ファイルは全部読み込まれますか？")
    talk.say("いいえ、名前を指定したものだけです。トークンを数えない人は一つも読み込みません。")

    talk.user("If I call loadEncoding five times in parallel, five downloads?")
    talk.step("", read_at(repo, "js/encodings.ts", "const loading", 0, 26))
    talk.say(
        "One. `loading` maps the name of the vocabulary to the promise under way, and later callers get the same one. It "
        "is by vocabulary, not by encoding, so `o200k_base` and `o200k_harmony` together are one download as well."
    )

    talk.user("How small is the JavaScript really? Somebody claimed it's just glue.")
    talk.step("Lines per file.", lines("js"))
    talk.say(
        f"{repo.line_count('js')} lines in {repo.file_count('js')} files, of which types and errors are a fifth or so. The "
        "largest with behaviour are `context.ts` and `session.ts`, and most of what they do is documentation and one call "
        "into Rust per method. Fair to call it glue."
    )

    talk.user("Explain the CommonJS story to me like I'm five. I `require()` it and my plugin `import`s it.")
    talk.step("The build says why.", read_at(repo, "scripts/build/bundles.mjs", "// TypeScript -> dist", 0, 6),
              json_key("package.json", "main"))
    talk.say(
        "There is one toy box, and two doors to it. In Node all the real code is CommonJS; the `.mjs` files only re-export "
        "it. So you and your plugin get the same classes and the same WebAssembly instance, and `instanceof Session` "
        "works across both. With two real builds you'd have two boxes, and your toys would not know each other."
    )

    talk.user("Write me an example for the README: create, two messages, save, load, window. Complete, please.")
    talk.cut_off(
        "A complete example, with storage, errors, a token window with a report, and an explanation of each line. Let me "
        "also show the browser, and the state, and hooks…",
        "```js\nimport { ContentPart, Message, Session, SystemPromptMessage } from 'peteos-session'\n\n// First of all we make",
    )
    talk.say(
        "```js\nimport { ContentPart, Message, Session } from 'peteos-session'\n\n"
        "const session = Session.create('agents/helper')\n"
        "session.activeContext.append(Message.create('user', [ContentPart.text('Hi')]))\n"
        "session.activeContext.append(Message.create('assistant', [ContentPart.text('Hello.')]))\n"
        "await session.save()\n\n"
        "const again = await Session.load('agents/helper', session.uuid)\n"
        "again.rollingSequenceWindow(1)\n"
        "await again.save()\n```"
    )
    talk.user("perfect, that's the length I wanted")
    talk.say("Good. It is not run yet; I can only read here.")

    talk.user("free() and `using`: do I have to?")
    talk.step("", read("js/dispose.ts"), search("free()", "js/session.ts"))
    talk.say(
        "No. The memory goes back when the object is collected. `free()` (or `using`, where the engine knows "
        "`Symbol.dispose`) gives it back at once, which matters for a server that opens thousands of sessions in a row. "
        "After that the object throws `DisposedError` instead of trapping."
    )

    talk.user("Which DOM exceptions are translated?")
    talk.step("", read_at(repo, "js/errors.ts", "const DOM_EXCEPTION_CODES", 1, 8))
    talk.say(
        "`NotFoundError` to `ENOENT`, `NotAllowedError` and `SecurityError` to `EACCES`, `QuotaExceededError` to `ENOSPC`, "
        "`NoModificationAllowedError` to `EBUSY`. So a full quota in a browser and a full disk in Node look the same to "
        "a caller."
    )
