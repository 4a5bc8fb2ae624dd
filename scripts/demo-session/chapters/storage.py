"""How sessions get to disk and back."""

from picture import bar_chart
from talk import Talk
from tools import denied, note, outline, read, read_at, search, tests, tokens_of
from workspace import Workspace

NODE = "js/storage/node.ts"
SESSION = "src/session/mod.rs"


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "storage: can a save lose anything?")

    talk.user("Next topic: can a save lose anything? Walk me through one, from save() to the platter.")
    talk.step(
        "Four stations: js save, wasm save, the plan, the adapter. Read all at once.",
        read_at(repo, "js/session.ts", "async save(", 8, 6),
        read_at(repo, "src/wasm/session.rs", "pub fn save(", 1, 12),
        read_at(repo, SESSION, "pub fn save_plan", 8, 20),
        read_at(repo, NODE, "async write(", 1, 16),
    )
    talk.say(
        "1. **`Session.save` in JavaScript** queues: it waits for the save before it and then calls Rust. Two saves of "
        "one session never overlap.\n2. **`save_plan`** takes a picture: the bytes of every changed context, newest "
        "first, and `session.json` last. Changes made while the disk works belong to the next save.\n3. **The boundary** "
        "hands one file after the other to the adapter and tells the session what is done.\n4. **`NodeFileStorage.write`** "
        "writes a temporary file beside the target, syncs it, renames it over the target and syncs the directory.\n\n"
        "Cut the power at any point: each file is the old one or the new one, and `session.json` names a context that "
        "is there."
    )

    talk.user("Why newest first for the contexts? I'd have written the parent first.")
    talk.say(
        "Because a window changes two files: the child is new, and the parent gets the child's id in `children`. With the "
        "parent first, a crash in between leaves a file that names a child nobody wrote. With the child first, the worst "
        "case is a file that nobody names yet, which is harmless."
    )

    talk.user("What's O_EXCL doing in there?")
    talk.step("", search("O_EXCL", NODE), read_at(repo, NODE, "async function writeSynced", 8, 12))
    talk.say(
        "The temporary file is opened with `O_CREAT | O_EXCL`: it has to be new. Its name holds the process id and a "
        "random uuid, so a clash is unlikely, but if there were one (or a symbolic link put there by somebody), the "
        "open fails instead of writing into something that exists. The name also starts with a dot and does not end in "
        "`.json`, so that a list of contexts never shows it."
    )

    talk.user("Und was passiert, wenn die Platte voll ist?")
    talk.step("", search("StorageError", "js/errors.ts"), read_at(repo, "js/errors.ts", "function storageCode", 9, 8))
    talk.say(
        "Dann schlägt das Schreiben der temporären Datei fehl, sie wird entfernt, und die alte Datei steht unverändert da. "
        "Beim Aufrufer kommt ein `StorageError` an, dessen `code` der des Betriebssystems ist, also `ENOSPC`; der "
        "ursprüngliche Fehler liegt in `cause`. Die Session bleibt als geändert vermerkt: Das nächste `save()` versucht "
        "es noch einmal, ohne dass man etwas tun muss."
    )

    talk.user("Übersetze mir bitte den Kommentar über NodeFileStorage ins Deutsche, fürs Handbuch.")
    talk.step("Den Kommentar brauche ich im Wortlaut.", read_at(repo, NODE, "export class NodeFileStorage", 6, 0))
    talk.say(
        "> Hält Dateien im Dateisystem von Node. Ein Schreibvorgang legt neben dem Ziel eine temporäre Datei an, bringt "
        "sie sicher auf die Platte, benennt sie auf das Ziel um und sichert dann das Verzeichnis: Zu jeder Zeit ist die "
        "Datei die alte oder die neue, und sobald `write` erfüllt ist, übersteht die neue einen Absturz. Scheitert ein "
        "Schreibvorgang, bleibt die alte Datei stehen und die temporäre wird entfernt."
    )

    talk.user("Sizes of my last eight saves in kB. The line is 300. Does a save write everything each time?",
              bar_chart([41, 88, 130, 171, 214, 262, 318, 355], 300))
    talk.step("", search("pending", SESSION), read_at(repo, SESSION, "pub fn written(", 2, 16))
    talk.say(
        "Each context that changed is written whole, yes; those that did not change are left alone, and a save without "
        "any change writes nothing at all. Your bars grow by about 45 kB a save because the active context grows and is "
        "one file. A window sets that back: the next active context is small, and the large one is not written again "
        "after that."
    )

    talk.user("So a window is also a performance tool.")
    talk.say("In effect, yes. It is a reason to window before the limit of the model forces you to.")

    talk.user("What about ids from the outside? session.json could say anything in active_context_id.")
    talk.step("id.rs, and where it is called for the field.",
              read_at(repo, "src/id.rs", "fn check_file_name", 1, 22), search("ContextId::parse", "src"))
    talk.say(
        "It goes through `ContextId::parse` like an id from a caller. Refused are: nothing at all, `.` and `..`, path "
        "separators of either kind, control characters (NUL among them), characters that Windows does not take, names "
        f"over 200 bytes, and `session`, whose file would be `session.json` itself. Line {repo.line_of('src/id.rs', 'fn check_file_name')} "
        "of `src/id.rs` is where it starts. So `../../etc/passwd` in a file is a `CorruptSessionError` with a line "
        "number, and no path is ever built from it."
    )

    talk.user("Escapes: why are all non-ASCII characters written as \\uXXXX? My diffs are unreadable, 日本語 becomes soup.")
    soup = talk.step(
        "write.rs does it on purpose; count what it costs in tokens to make the point that counting is not affected.",
        read_at(repo, "src/json/write.rs", "fn write_string_fragment", 0, 14),
        tokens_of("日本語"), tokens_of("\\u65e5\\u672c\\u8a9e"),
    )
    talk.say(
        "Compatibility: those are the bytes that Python's `json.dump` writes by default, and a session that moves between "
        "the two should not change on the way. It costs size on disk, not tokens, because tokens are counted in the text "
        f"with the characters as they are (日本語 is {soup[1]} tokens; the escapes would be {soup[2]}). For reading diffs, a "
        "`textconv` that parses and prints the file does the job."
    )

    talk.user("Numbers! I had a 9223372036854775808 in metadata, in JavaScript it shows as ...776000. Is it lost on save?")
    talk.step("keep_numbers.", read("src/json/numbers.rs"))
    talk.say(
        "Not lost. JavaScript can only *show* it rounded, but the text of every number stays in Rust. Even when you assign "
        "a whole `rawDict` back, `keep_numbers` goes through both values side by side, and where the new number is the "
        "same double as the old one, the old text stays: 9223372036854775808, `1.0` and `1e16` all survive."
    )

    talk.user("convincing. Can you run the package tests to make sure? machine is free now I think")
    talk.step("Ask again.", denied(tests("package"), "still building, sorry! later"))
    talk.say("Denied again, no harm done. Everything above is from reading.")

    talk.user("What happens with two processes on the same session?")
    talk.step("Is there any lock or version? Search.", search("lock", "js/storage"), search("revision", "js/storage"))
    talk.say(
        "I find neither a lock nor a check of versions in the storage adapters, so today the last one to save wins: "
        "whole files, never torn ones, but one of the two loses its messages. `isActive` tells that a running agent uses "
        "a session; nothing enforces it yet. I'd treat that as the biggest gap in storage."
    )

    talk.user("Agreed, please note it with the evidence.")
    talk.step("", note("two writers",
                       "No lock and no version check under js/storage (searched: lock, revision). The last save wins; files "
                       "are whole, but messages of the other process are lost. isActive is advisory only."))
    talk.say("Noted under *two writers*.")

    talk.user("MemoryStorage: why does it copy on read and on write?")
    talk.step("", read("js/storage/memory.ts"), outline("js/storage/storage.ts"))
    talk.say(
        "So that nobody shares bytes with it. Without `slice()` on write, a caller who reuses a buffer would change what "
        "is stored; without it on read, a reader could. A file system gives that for free, and a stand-in for one should "
        "not be weaker."
    )
