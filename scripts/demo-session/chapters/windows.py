"""Rolling windows and the counting of tokens."""

from talk import Talk
from tools import lines, outline, read, read_at, search, tokens, tokens_of
from workspace import Workspace

CUT = "src/window/cut.rs"
RANKS = "src/tokens/ranks.rs"


def play(talk: Talk, repo: Workspace) -> None:
    talk.keep("task", "review the windows")

    talk.user("Windows now. I want to review them properly. Start with where they cut.")
    talk.step("All of cut.rs, it is short, and how the two public functions use it.",
              read(CUT), read_at(repo, "src/window/mod.rs", "pub fn rolling_sequence_window", 3, 30))
    talk.say(
        "`Cut` is two lists of positions, kept and dropped. `to_count` ranks the non-special messages and keeps the last "
        "`count`; `to_tokens` starts with what the special messages cost and walks back from the newest, adding up, "
        "until one would go over. Both then hand over to `keeping_last`, so the two windows cannot disagree about what "
        "a suffix is. `rolling_*` forks when something was dropped, `plan_*` reports the same cut without the fork."
    )

    talk.user("It stops at the first that doesn't fit. Why not skip a huge message and keep smaller, older ones?")
    talk.say(
        "Because then the model would see a conversation with a hole. A question without its answer, or worse, a tool "
        "call without its result, and no way to tell. A contiguous suffix is something one can reason about: everything "
        "from here on is complete. It is also what the Python package does, so both give the same messages for the same "
        "budget.",
        "Design question. No lookup needed, cut.rs is in front of me.",
    )

    talk.user("And what if not even the newest fits?")
    talk.say(
        "Then only the special messages are kept, even where they alone are over the budget. The loop breaks before it "
        "counts anything, `count` stays 0. The report says so: `kept` is empty and `tokensAfter` equals `specialTokens`."
    )

    talk.user("by_rank: explain the Option. When does a message have no sequence number?")
    talk.step("", read_at(repo, CUT, "fn by_rank", 3, 20), read_at(repo, "src/conversation/message.rs", "fn new(dict", 1, 8))
    talk.say(
        "Files from elsewhere may lack `_sequence_number`, or have one that is negative or no whole number; `Message::new` "
        "takes those for absent. Such a message ranks right after the one displayed before it: `last` carries the number "
        "on, and `(last, position)` sorts by number first and position second. `None` sorts before every number, so "
        "messages without a number at the very top are the oldest. The sort is skipped where the list is in order, "
        "which is the case in every ordinary session."
    )

    talk.user("मुझे टोकन विंडो हिंदी में समझाइए, हमारी टीम के लिए। छोटा और सरल।")
    talk.say(
        "टोकन विंडो सबसे नए संदेश से पीछे की ओर चलती है। पहले विशेष संदेशों (सिस्टम प्रॉम्प्ट और टूल की परिभाषाएँ) के टोकन जोड़े "
        "जाते हैं। फिर एक-एक करके नए से पुराने संदेश जोड़े जाते हैं, जब तक कुल योग सीमा के भीतर रहे। जो पहला संदेश सीमा पार करता "
        "है, वहीं रुक जाते हैं: वह और उससे पुराने सभी संदेश छोड़ दिए जाते हैं। पुराना कॉन्टेक्स्ट अपनी फ़ाइल में पूरा बना रहता है।",
        "हिंदी में, सरल शब्दों में।",
    )
    talk.user("धन्यवाद! हिंदी में टोकन ज़्यादा क्यों लगते हैं?")
    hindi = "संदेश की सीमा"
    counts = talk.step(
        "एक ही वाक्य को दो एनकोडिंग में गिनकर दिखाता हूँ।",
        tokens_of(hindi, "cl100k_base"), tokens_of(hindi, "o200k_base"), tokens_of("limit of the message", "cl100k_base"),
    )
    talk.say(
        f"क्योंकि शब्द-भंडार ज़्यादातर अंग्रेज़ी पर बना है। “{hindi}” `cl100k_base` में {counts[0]} टोकन है और `o200k_base` में केवल "
        f"{counts[1]}; अंग्रेज़ी “limit of the message” में {counts[2]}। इसलिए सही एनकोडिंग चुनना ज़रूरी है।"
    )

    talk.user("How are tokens of one message counted? I get different numbers from what my provider bills.")
    talk.step(
        "counted_text and tokens in message.rs.",
        read_at(repo, "src/conversation/message.rs", "The number of tokens of [`Message::counted_text`]", 0, 38),
    )
    talk.say(
        "The text `<role>: <content>` is counted, the content being the list of parts as Python's `json.dumps` writes it "
        "with `ensure_ascii=False`. So keys, quotes and braces count too, which is more than a provider bills for plain "
        "text and less than what some add per message. It is a convention, the same as the Python package's, and its use "
        "is that both cut at the same message."
    )

    talk.user("There is a token_count key in some of my files. Trusted?")
    talk.say(
        "For `cl100k_base`, yes: `tokens` takes it instead of counting, because that is the encoding it was written for. "
        "For every other encoding it is ignored and the text is counted. And when a message's content is changed through "
        "`updateMessage`, a `token_count` that no longer holds is dropped."
    )

    talk.user("How long are our own sources in tokens? cl100k and o200k next to each other for the three biggest modules.")
    paths = ["src/conversation/context.rs", "src/json/parse.rs", "src/session/mod.rs"]
    counted = talk.step(
        "Six counts, all independent.",
        *(tokens(path, encoding) for path in paths for encoding in ("cl100k_base", "o200k_base")),
    )
    rows = [f"| `{path}` | {counted[2 * row]} | {counted[2 * row + 1]} |" for row, path in enumerate(paths)]
    talk.say(
        "| file | cl100k_base | o200k_base |\n|---|---:|---:|\n" + "\n".join(rows) + "\n\nFor code the two are close; the "
        "larger vocabulary of `o200k_base` pays off in other languages."
    )

    talk.user("👩‍👩‍👧‍👦 and 👍🏽 and 🏳️‍🌈, how many tokens? Betting with a colleague.")
    family = talk.step("", tokens_of("👩‍👩‍👧‍👦"), tokens_of("👍🏽"), tokens_of("🏳️‍🌈"), tokens_of("👍"))
    talk.say(
        f"👩‍👩‍👧‍👦 {family[0]}, 👍🏽 {family[1]}, 🏳️‍🌈 {family[2]} in `cl100k_base`, and a plain 👍 {family[3]}. One picture on the screen, "
        "but a family is four people with three zero width joiners between them, and each of those is several bytes. "
        "Who won?"
    )
    talk.user("not me 😭")
    talk.say("Better luck with the next one 🍀.")

    talk.user("What does reading a vocabulary cost, and what stops somebody from feeding in garbage?")
    talk.step(
        "Ranks::new checks; vocabularies.mjs writes the format.",
        read(RANKS, repo.line_of(RANKS, "/// Reads the file of a vocabulary"),
             repo.line_of(RANKS, "/// The rank of a token;") - 1),
        read_at(repo, "scripts/vocabularies.mjs", "function encodeVocabulary", 0, 10),
        text="Reading both ends of it: who writes the file and who reads it.",
    )
    talk.say(
        "The file is as plain as can be: for each rank one byte with the token's length, then the token. Reading it is "
        "one pass that notes where each token begins and enters it in a hash table; the bytes stay where they are. Garbage is refused in four ways: a token that is cut off, one that stands "
        "twice, a wrong number of ranks, and a vocabulary in which a single byte has no token, since the search relies "
        "on ending there. The error says which file was expected. What is not checked is whether it is the *right* "
        "token at each rank; the build does that, with the sha256 of the source."
    )

    talk.user("Where are counts cached? Calling totalTokenCount on every turn worries me.")
    talk.step("", search("counts", "src/conversation/message.rs"), read_at(repo, "src/tokens/encoding.rs", "pub fn index(self)", 6, 14))
    talk.say(
        "In the message: `counts` is one `Cell` per vocabulary, filled at the first count and copied along by forks. "
        "Messages never change in place (a changed one is another), so nothing has to be invalidated. The second call "
        "of `totalTokenCount` only adds numbers up. `p50k_base` and `p50k_edit` share a cell, because they share a "
        "vocabulary."
    )

    talk.user("اشرح لي بالعربية: لماذا تُحسب الرسائل الخاصة أولاً في نافذة الرموز؟")
    talk.step("السؤال عن special_tokens في cut.rs.", search("special_tokens", CUT))
    talk.say(
        "لأنها تبقى في كل الأحوال. رسالة النظام وتعريفات الأدوات تذهب إلى النموذج دائماً، فيجب أن يُخصم ثمنها من الميزانية قبل أن "
        "نختار شيئاً من المحادثة. لو حُسبت في النهاية لتجاوز المجموع الحد. لذلك يبدأ `to_tokens` بقيمة `special_tokens` ثم يضيف "
        "الرسائل من الأحدث إلى الأقدم ما دام المجموع ضمن الميزانية."
    )
    talk.user("شكراً 🙏")
    talk.say("على الرحب والسعة!")

    talk.user("What's still missing in the windows from your point of view? Be blunt.")
    talk.step("The boundary option is the open end. See what parse says.",
              read_at(repo, "src/window/mod.rs", "pub enum Boundary", 3, 30), outline("src/window/report.rs"))
    talk.say(
        "Blunt, then:\n\n1. A window may begin with a tool result whose call was dropped. `boundary` is where that will be "
        "solved; what this version takes is listed in `Boundary::parse`.\n2. The report has ids, but the *reason* why it "
        "stopped (\"the next would have cost 812, 240 were left\") has to be worked out from `tokens`.\n3. "
        "`planSequenceWindow` has no tokens at all, since no encoding is involved. Correct, but people will ask.\n\n"
        "The arithmetic itself I have nothing against."
    )

    talk.user("fair. how many lines is all of src/window, for the review sheet")
    talk.step("", lines("src/window"))
    talk.say(f"{repo.line_count('src/window')}, the three files together.")
