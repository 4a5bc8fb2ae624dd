"""Anchors, forks and the order of messages. In the middle of it the context becomes too long."""

from picture import bar_chart
from talk import Talk
from tools import denied, lines, note, outline, read, read_at, search, tests
from workspace import Workspace

CONTEXT = "src/conversation/context.rs"
ANCHORS = "src/conversation/anchors.rs"
FORK = "src/conversation/fork.rs"


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "understand anchors and forks")

    talk.user("I'm back. Anchors: what are they for? The word doesn't help me.")
    talk.step(
        "Read the module; it is short. And the names of the usual three.",
        read(ANCHORS),
        search("[SYSTEM_PROMPT, TOOLS, MESSAGES]", "src/conversation"),
    )
    talk.say(
        "Think of book marks that divide the message list into partitions. A fresh context has three: `system_prompt`, "
        "`tools`, `messages`. Each holds an index, and that index is the position *after* the last message of its "
        "partition. `append(message, 'messages')` puts the message at that index and moves the anchor, and every one "
        "that stands after it, by one. So you can still append to an earlier partition when the conversation has long "
        "gone on, and everything behind it makes room."
    )

    talk.user("Show me the append.")
    talk.step("", read_at(repo, CONTEXT, "pub fn append(", 6, 14))
    talk.say(
        "A handful of lines with one idea each. Look up the anchor (the only thing that can fail), bring anchors that point "
        "past the end back to it, let `open` make the gap, number the message with the mutation counter, insert, and "
        "grow the revision so that everybody with a copy knows. Note the order: the lookup stands first, so after an "
        "error nothing has changed."
    )

    talk.user("What if two anchors have the same index? Which partition is a message in then?")
    talk.step(
        "Homes::of: the first anchor whose index is greater than the position. And insert's after_existing.",
        read_at(repo, ANCHORS, "pub(super) struct Homes", 3, 24),
        read_at(repo, ANCHORS, "pub fn insert", 1, 8),
    )
    talk.say(
        "A message's home is the first anchor with an index *greater* than the message's position. Two anchors at the "
        "same index means that the second partition is empty, so nothing can be ambiguous. Which of two equal ones "
        "comes first is decided when they are added: `afterExisting` (the default) puts the new one behind, `false` in "
        "front. An agent loop uses `false` to open a place for tool results just before `messages`."
    )

    talk.user("アンカーの説明を日本語でもお願いします。チームの田中さんに渡したいです。")
    talk.say(
        "はい。**アンカー**は、メッセージの一覧をいくつかの区画に分けるしおりのようなものです。新しいコンテキストには "
        "`system_prompt`、`tools`、`messages` の三つがあります。アンカーの番号は、その区画の最後のメッセージの「次」の位置を"
        "指します。`append(message, 'messages')` を呼ぶと、その位置にメッセージが入り、そのアンカーと後ろにあるすべてのアンカー"
        "が一つずつ進みます。ですから、会話が進んだ後でも前の区画に追加でき、後ろのメッセージは自動的にずれます。",
        "日本語での説明。短く、用語はそのまま。",
    )
    talk.user("ありがとうございます！メッセージ自体に順番の番号は付きますか？")
    talk.step("連番は with_sequence で付く。確認する。", search("with_sequence", "src/conversation"))
    talk.say(
        "付きます。追加されるたびに `_sequence_number` という連番がコンテキストのカウンターから与えられます。表示の順番と"
        "追加の順番は別のもので、ウィンドウが「最後の N 件」を選ぶときは、表示ではなくこの連番を使います。"
    )

    talk.user("Forks next. When exactly does one happen, and what gets copied?")
    talk.step(
        "fork.rs: three public ways, one private that does the work. Outline, then fork_of.",
        outline(FORK),
        read_at(repo, FORK, "fn fork_of(", 3, 40),
    )
    talk.step(
        "The counting of anchors is done at the end. Read the rest, and bare().",
        read_at(repo, FORK, "So far each anchor counts", 14, 14),
        read_at(repo, CONTEXT, "pub(super) fn bare(", 1, 22),
    )
    talk.say(
        "Three doors, one room. `fork` (by sequence numbers), `fork_positions` (what a window calls) and "
        "`strip_thinking` all end in `fork_of`. It makes a bare context with a new id and a copy of the content map, "
        "takes over the usual anchors plus the home anchors of the chosen messages in the parent's order, and puts each "
        "message into its home. Messages keep their ids and get fresh sequence numbers. Last, the child's id is added "
        "to the parent's `children`. The trick with the anchors: while messages are placed, an anchor only counts its "
        "own partition, and one pass at the end sums up, so a fork of ten thousand messages is linear."
    )

    talk.user("Could you run the native tests once so I can see them pass?")
    talk.step(
        "That has to be approved; the suite is `native`.",
        denied(tests("native"), "somebody else is building on this machine, not now"),
    )
    talk.say("You declined it because of the other build, fine. The command is `npm run test:native` when the machine is free.")

    talk.user("yes sorry. Then tell me from reading: is the case 'fork of a context without any anchors' covered?")
    talk.step("", read_at(repo, FORK, "fn a_context_without_anchors_forks_too", 2, 9))
    talk.say(
        "Yes, `a_context_without_anchors_forks_too`: two messages, `anchor_points: []`, a fork of the second. The child "
        "gets the usual three anchors, with `messages` at 1. That I have read, not run."
    )

    talk.user("And special messages? If my system prompt isn't at the top, is it still special?")
    talk.step("special() in context.rs has the rule.", read_at(repo, CONTEXT, "pub fn special(", 1, 6),
              read_at(repo, CONTEXT, "fn positions(self)", 1, 14))
    talk.say(
        "No. It is special only while the context names its id *and* it stands in front: position 0 for the system "
        "prompt, 0 or 1 for the tool definitions. Elsewhere it is a message like any other and a window may drop it. "
        "That sounds strict, but it means that an id left behind in an edited file cannot pin a random message."
    )

    names = ("anchors", "context", "fork", "message", "shape")
    values = [repo.token_count(repo.text_of(f"src/conversation/{name}.rs")) for name in names]
    (first, most), (second, limit) = sorted(zip(names, values), key=lambda pair: -pair[1])[:2]
    talk.user(
        "I drew this from token counts of the five files in src/conversation (in alphabetical order). The orange line is "
        "the second longest. Anything to worry about?",
        bar_chart(values, limit),
    )
    talk.step("Check the order against line counts; tokens and lines go together here.", lines("src/conversation"))
    talk.say(
        f"Your bars match: `{first}.rs` towers with {most} tokens, `{second}.rs` comes next with {limit}. I "
        "would not split it for its size alone. It holds one struct, its checks and its writer; what could move out "
        "without a fight is the serialisation at the bottom."
    )

    talk.user("Wie oft wird `clamp` aufgerufen, und brauchen wir das wirklich?")
    talk.step("", search(".clamp(", "src"), read_at(repo, ANCHORS, "Brings anchors that point past the end", 0, 6))
    talk.say(
        "In `append` und in `add_anchor`, jeweils vor dem Einfügen. Gebraucht wird es für Dateien, die ein anderes "
        "Programm geschrieben hat: Nach dem Entfernen von Gedanken stehen dort Anker hinter dem Ende der Liste. Ohne "
        "`clamp` wäre `insert` an so einer Stelle ein Absturz. Für eigene Dateien kostet es nur einen Vergleich je Anker."
    )

    talk.user("Write down what we learned about anchors and forks, please. Five lines at most.")
    talk.step(
        "Five lines.",
        note(
            "anchors",
            "An anchor's index is the position after the last message of its partition.\n"
            "append(message, anchor) inserts there and moves that anchor and all after it.\n"
            "A message's home is the first anchor with a greater index than its position.\n"
            "Forks keep ids, renumber messages, and add their id to the parent's children.\n"
            "Special messages are special only in front.",
        ),
    )
    talk.say("Done, it's the note *anchors*.")

    talk.window(12_000)

    talk.user("My client says the context was cut just now. Did you forget what we talked about first thing?")
    talk.say(
        "The oldest messages are gone from what I see, yes: I no longer have our first look at the layout. They are not "
        "lost, though. The earlier context still has all of them in its own file, and the notes *errors* and *anchors* "
        "are in the session's state. If you need something from before, tell me and I'll read it again.",
        "The window kept the newest messages and the two special ones. Be honest about it.",
    )

    talk.user("Good demo of the feature, I guess 😄. Who wrote the parent's `children` then?")
    talk.step("", search("add_child", "src/conversation"), read_at(repo, CONTEXT, "pub(super) fn add_child", 0, 7))
    talk.say(
        "`fork_of`, at its very end: `self.add_child(child.id())`. It also grows the parent's revision, which is how the "
        "session learns that the parent has to be saved too."
    )
