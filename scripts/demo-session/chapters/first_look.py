"""Getting to know the repository."""

from talk import Talk
from tools import aborted, failing, files, json_key, lines, note, outline, read, read_at, search
from workspace import Workspace


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "get to know the code base")

    talk.user("Morning! I'm new here and have an hour before the planning call. What am I looking at?")
    talk.step(
        "A newcomer with an hour. The layout first: sizes of the rooms and what the crate says about itself.",
        files("src"),
        lines("src", "js"),
        read("src/lib.rs"),
    )
    talk.say(
        "Two halves. **`src/`** is a Rust crate that knows what a session is: messages, contexts, anchors, windows, the "
        "bytes of the files. It does no I/O at all; the comment on top of `src/lib.rs` says so. **`js/`** is the "
        "TypeScript around it, which brings the storage. Between them sits `src/wasm/`, the only place that knows "
        f"wasm-bindgen. In lines: {repo.line_count('src')} of Rust (tests included, they stand in the same files) and "
        f"{repo.line_count('js')} of TypeScript.\n\nFor your hour I'd read `src/conversation/context.rs`, "
        "`src/window/cut.rs` and `js/session.ts`, in that order."
    )

    talk.user("Why is the I/O kept out of the Rust side? Feels roundabout, Rust can write files.")
    talk.step(
        "The environment trait and the storage module are the seams. Look at both.",
        read("src/environment.rs", 1, repo.line_of("src/environment.rs", "fn dated_id") + 4),
        read_at(repo, "src/storage.rs", "pub struct SavePlan", 2, 24),
    )
    talk.say(
        "Not in a browser it can't. Compiled to `wasm32-unknown-unknown` there is no file system, so the crate would "
        "have to call out anyway. Instead it says *what* to write: `SavePlan` is a list of paths with bytes, in order, "
        "and `Written` is what it is told after each. Time and randomness come in through `Environment` the same way. "
        "The gain is that all of it is tested natively with a clock that stands still, and that Node, a browser and a "
        "test with a broken disk all run the same code.",
    )

    talk.user("ok that makes sense. which file is the scariest")
    talk.step(
        "Longest file is a fair proxy; the JSON reader is hand-written, which is worth a look. Outline both.",
        outline("src/json/parse.rs"),
        outline("src/conversation/context.rs"),
    )
    talk.step(
        "The reader keeps its nesting in a list. Read the reason at the top and the loop.",
        read_at(repo, "src/json/parse.rs", "//! JSON text to a value", 0, 16),
        read_at(repo, "src/json/parse.rs", "Reads a whole value", 0, 48),
    )
    talk.say(
        "`src/json/parse.rs`, I'd say. A JSON reader of one's own always deserves a raised eyebrow, and the comment at "
        "the top answers it: serde_json would rewrite `1e16` as `1e+16`, refuse half a surrogate pair, and recurse. "
        "`Reader::value` keeps open arrays and objects in a `Vec`, so a file nested a million levels deep is an error "
        "with line and column and not a stack overflow. `what_is_written_reads_back` is the property test that lets "
        "one sleep.",
        "Is it really scary? It is the only code that meets arbitrary bytes. Yes.",
    )

    talk.user("What does package.json promise to someone who installs this?")
    talk.step("", json_key("package.json", "exports"), json_key("package.json", "engines"))
    talk.say(
        "An entry for each kind of place. `.` goes to `dist/index.mjs` or `index.cjs` in Node, to `dist/browser.js` "
        "under the condition `browser`, and to the `inline` build, which carries the wasm within, for everything else. "
        "`./node` is the file storage alone, `./inline` and `./slim` can be asked for by name, and the wasm and the "
        "encodings are addressable as files. Node 20 or newer.",
    )

    talk.user("Is there a file src/windows.rs? Somebody mentioned it in chat.")
    talk.step("Quick to try.", failing(read("src/windows.rs")), files("src/window"))
    talk.say(
        "No. There is a folder instead: `src/window/` with `mod.rs` (what is public), `cut.rs` (where a window cuts) "
        "and `report.rs` (what it says about it). Your colleague may have meant `cut.rs`."
    )

    talk.user("Count everything then, the whole repo, I want one number for the slide.")
    talk.step("All lines of the repository; that goes through every folder.", aborted(lines("."), "stopped by the user"))
    talk.user("sorry, stopped that, it would have counted the lock files too. just src js and scripts/setup please")
    talk.step("", lines("src", "js", "scripts/setup"))
    total = sum(repo.line_count(path) for path in ("src", "js", "scripts/setup"))
    talk.say(
        f"{total} lines: {repo.line_count('src')} in `src`, {repo.line_count('js')} in `js`, "
        f"{repo.line_count('scripts/setup')} in `scripts/setup`."
    )

    talk.user("Kurze Zwischenfrage auf Deutsch, das geht doch, oder? Was ist der Unterschied zwischen Session und Context?")
    talk.step(
        "German question. The doc comments of both structs say it best.",
        read_at(repo, "src/session/mod.rs", "/// One interaction thread", 0, 22),
        read_at(repo, "src/conversation/context.rs", "/// The messages of one step of a session", 0, 18),
    )
    talk.say(
        "Ja, gern auf Deutsch. Eine **Session** ist ein ganzer Gesprächsfaden: ihr Wörterbuch (`session.json`), der "
        "aktive Context und alle anderen, die aus ihm hervorgegangen sind. Ein **Context** ist eine Nachrichtenliste, "
        "also genau das, was an ein Modell geht, dazu Anker und Zähler. Schneidet ein Fenster den Context zu, entsteht "
        "ein neuer; der alte bleibt mit allen Nachrichten liegen und wird beim nächsten Speichern mitgeschrieben. "
        "Deshalb geht nie etwas verloren: Man kann immer zum Elternteil zurück."
    )

    talk.user("Danke! Und wo steht, welcher Context gerade aktiv ist?")
    talk.step("", search("active_context_id", "src/session/mod.rs"))
    talk.say(
        "In `session.json` unter `active_context_id`. Dort steht nur die Id; die Nachrichten stehen in `<id>.json` "
        "daneben. `session.json` wird immer zuletzt geschrieben, darum zeigt die Id nie auf eine Datei, die es noch "
        "nicht gibt."
    )

    talk.user("Back to English. Which errors can a caller run into? I'd like the complete list with codes.")
    talk.step(
        "js/errors.ts has the classes; the codes are in the constructors.",
        outline("js/errors.ts"),
        search("'ERR_", "js/errors.ts"),
        read_at(repo, "src/error.rs", "pub enum Error", 1, 26),
    )
    talk.say(
        "| class | code | when |\n|---|---|---|\n"
        "| `SessionNotFoundError` | `ENOENT` | there is no `session.json` |\n"
        "| `ContextNotFoundError` | `ERR_CONTEXT_NOT_FOUND` | the session has no such context |\n"
        "| `CorruptSessionError` | `ERR_CORRUPT_SESSION` | a file is no JSON or no session; has path, line, column |\n"
        "| `InvalidArgumentError` | `ERR_INVALID_ARGUMENT` | a count of -1, an anchor that is not there |\n"
        "| `InvalidMessageError` | `ERR_INVALID_MESSAGE` | a message of the wrong shape; names the field |\n"
        "| `UnknownEncodingError` | `ERR_UNKNOWN_ENCODING` | lists those that are known |\n"
        "| `EncodingNotLoadedError` | `ERR_ENCODING_NOT_LOADED` | in a browser, before `loadEncoding` |\n"
        "| `NotInitializedError` | `ERR_NOT_INITIALIZED` | in a browser, before `init` |\n"
        "| `ConflictError` | `ERR_CONFLICT` | somebody else changed what the caller takes for granted |\n"
        "| `DisposedError` | `ERR_DISPOSED` | the object was freed |\n"
        "| `StorageError` | that of the cause, or `EIO` | a disk is full, a right is missing |\n\n"
        "The list in `js/errors.ts` is longer than the enum in Rust, because some errors only exist on the JavaScript "
        "side."
    )

    talk.user("nice. keep that table for me, I'll need it in the call")
    talk.step(
        "Needs approval, which the user just implied; the note should be short.",
        note("errors", "Classes and codes: js/errors.ts. ENOENT for a missing session.json; every other class has ERR_*. "
             "CorruptSessionError names path, line and column. StorageError keeps the code of its cause (ENOSPC, EACCES)."),
    )
    talk.say("Kept as the note *errors*.")

    talk.user("How do I see that TypeScript's strict mode is on? Our linter bot keeps asking.")
    talk.step("", search("\"strict\"", "tsconfig.json"), search("noUnchecked", "tsconfig.json"))
    talk.say(
        "`tsconfig.json` has `\"strict\": true`, and `noUncheckedIndexedAccess` on top of it, which is why the sources "
        "say `keys[index] as number` in places."
    )

    talk.user(
        "This is what I see when I build. What do the brackets mean, and is it normal that nothing happens?\n\n"
        "\x1b[2m[set-up]\x1b[22m dist/ is up to date\n\x1b[32m✔\x1b[39m done\r\n"
    )
    talk.step(
        "The prefix comes from say() in the set-up steps. The stamps decide about the work.",
        read_at(repo, "scripts/setup/steps.mjs", "export function say", 4, 26),
        read_at(repo, "scripts/setup/stamps.mjs", "export async function onlyWhenChanged", 6, 14),
    )
    talk.say(
        "All normal. Everything that prepares something announces itself with `[set-up]`, on standard error, so that "
        "standard output stays free for results. And nothing happened because nothing had to: `onlyWhenChanged` hashes "
        "the inputs and the outputs, compares them with the stamp of the last time and skips the work when both are "
        "the same. Touch a file in `src/` and it will build."
    )

    talk.user("Last one before my coffee ☕️: who decides what a message may look like, Rust or TypeScript?")
    talk.step(
        "shape.rs; there are two checks, one strict for callers and one lenient for files. Verify.",
        read_at(repo, "src/conversation/shape.rs", "//! What a message may look like", 0, 34),
        search("fn check_", "src/conversation/shape.rs"),
    )
    talk.say(
        "Rust, in `src/conversation/shape.rs`, and there are two answers. What a *caller* hands in has to be right in "
        "every field that has a meaning. What a *file* holds only has to be what the code relies on, because it may "
        "come from a later version or from another program; the rest is kept as it is. TypeScript's types describe the "
        "same, but nothing at run time depends on them. Enjoy your coffee ☕️."
    )
