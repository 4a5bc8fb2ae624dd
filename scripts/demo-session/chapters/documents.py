"""Planning what the documentation still lacks, and the end of the day."""

from talk import Talk
from tools import files, note, outline, read_at, search, tokens
from workspace import Workspace


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "plan what docs/architecture.md still lacks")

    talk.user("Read docs/architecture.md as somebody who wants to contribute. What's missing? Outline only.")
    talk.step(
        "The document first, and the module docs to compare with.",
        read_at(repo, "docs/architecture.md", "# Architecture", 0, 32),
        search("## ", "docs/architecture.md"),
        search("//! ", "src/conversation"),
    )
    talk.say(
        "The rooms, the direction of calls and the way of a save are all there, and the module docs agree with it. For a "
        "contributor I miss three things:\n\n1. **Where to add things**: an error, an encoding, an adapter, each as a "
        "list of the files one has to touch.\n2. **How a window decides**, with one picture. It is what people come "
        "for.\n3. **What to run** before a change is handed in, and how long each of it takes."
    )

    talk.user("I like 1. Do it for an error, as a draft. In which files would I have to touch something?")
    talk.step(
        "Follow one error through all layers: UnknownEncoding.",
        search("UnknownEncoding", "src"),
        search("UnknownEncoding", "js"),
    )
    talk.say(
        "Draft:\n\n> **A new error.** Add a variant to `Error` in `src/error.rs`, with its sentence in `Display` and its "
        "class in `class()`. Put its details into the object in `src/wasm/errors.rs`. Add the class to `js/errors.ts`, "
        "to the map `CLASSES` there, and to the exports of `js/index.ts`. In Rust the compiler finds what is missing; "
        "in JavaScript a test has to."
    )

    talk.user("And for an adapter?")
    talk.step("", read_at(repo, "js/storage/storage.ts", "export interface SessionStorage", 4, 24))
    talk.say(
        "> **A new storage adapter.** Implement `read`, `write`, `list` and `remove` of `SessionStorage`. `write` replaces "
        "a file as a whole, and what is resolved survives a crash; `read` gives `null` for what is not there, `list` an "
        "empty array. `modifiedTime` is optional and only orders `Session.list`. Throw what you like: it reaches the "
        "caller as the `cause` of a `StorageError`, with its `code`."
    )

    talk.user("Translate that last one into Japanese for Tanaka-san, keep the code words.")
    talk.say(
        "> **新しいストレージアダプター。** `SessionStorage` の `read`、`write`、`list`、`remove` を実装します。`write` はファイル全体を"
        "置き換え、完了した書き込みはクラッシュしても残らなければなりません。`read` はファイルがなければ `null` を、`list` は空の配列を"
        "返します。`modifiedTime` は任意で、`Session.list` の並び順にだけ使われます。例外は自由に投げてかまいません。呼び出し側には"
        "`StorageError` の `cause` として、`code` と一緒に届きます。"
    )

    talk.user("और हिंदी में भी, बस पहला वाक्य।")
    talk.say("> **नया स्टोरेज अडैप्टर।** `SessionStorage` के `read`, `write`, `list` और `remove` लागू कीजिए।")

    talk.user("How many tokens would it cost to paste all of src/window into a prompt? cl100k.")
    names = [repo.name_of(file) for file in repo.files_under("src/window")]
    counts = talk.step("One count per file.", *(tokens(name) for name in names))
    total = sum(map(int, counts))
    table = "\n".join(f"- `{name}`: {count}" for name, count in zip(names, counts))
    talk.say(f"{table}\n\n{total} together. A page of a book is about 400, to give an idea.")

    talk.user("Which set-up steps run on a bare machine, in what order? For the docs.")
    talk.step("", files("scripts/setup"), read_at(repo, "scripts/setup.mjs", "export async function setUp", 0, 8),
              outline("scripts/setup/rust.mjs"))
    talk.say(
        "`scripts/setup.mjs` has them in order: the npm packages, Rust for WebAssembly, wasm-bindgen's tools, Chromium, "
        "the Python reference. The build alone needs the first three. Rust comes from what is installed, with the target "
        "added by rustup; where that cannot be had and the machine is a Debian, from its packages."
    )

    talk.user("What does a step look like while it runs? People think it hangs.")
    talk.step("", read_at(repo, "scripts/setup/steps.mjs", "export async function step", 1, 14))
    talk.say(
        "It says what it starts, and then a sign of life every 15 seconds (`HEARTBEAT_MS`), \"still optimising the "
        "WebAssembly module (30.0 s)\", and at the end how long it took. I'd quote that in the docs, next to the rough "
        "times of the long ones."
    )

    talk.user("Fasse mir den Tag in drei Sätzen zusammen, für das Protokoll.")
    talk.say(
        "Wir haben Aufbau, Anker, Fenster, Speicherung und die JavaScript-Oberfläche durchgesehen; gerechnet wird richtig, "
        "und ein Absturz beim Speichern verliert nichts. Als größte Lücke sehen wir zwei Prozesse auf derselben Session, "
        "danach Fenster, die einen Werkzeugaufruf von seinem Ergebnis trennen. Für `docs/architecture.md` stehen zwei "
        "neue Abschnitte im Entwurf."
    )

    talk.user("One note with what is missing there please, then we're done.")
    talk.step("", note(
        "architecture",
        "Missing in docs/architecture.md: 1 where to add things (drafts: error, adapter), 2 how a window decides, with "
        "a picture, 3 what to run before handing in a change.",
    ))
    talk.say("It's under *architecture*. You have four notes now: *errors*, *anchors*, *two writers*, *architecture*.")

    talk.keep("task", "done for today")
    talk.user("Thanks, this was useful. Arigatō, danke, شكراً, धन्यवाद! 👋🏽")
    talk.say("どういたしまして, gern geschehen, عفواً, खुशी हुई! See you tomorrow. 👋🏽")
