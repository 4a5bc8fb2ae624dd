//! The rules: which format has which, and the documents that state them.

use serde::{Serialize, Serializer};

use crate::format::{EmptyMessage, FirstTurn, ProviderFormat, RequiredMessage, RequiredThinking};
use peteos_conversation::named_enum;

named_enum! {
    /// What a provider refuses in a conversation. The names are stable; findings at one place come in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rule {
        /// No message but special ones.
        ///
        /// `messages` has at least one element in <https://platform.openai.com/docs/api-reference/chat/create>, `contents`
        /// is required in <https://ai.google.dev/api/generate-content>, and so is a message in
        /// <https://platform.claude.com/docs/en/api/messages/create>. For Chat Completions a system prompt is one.
        NoMessages = "no-messages",
        /// A role that no format supports; the roles are `user`, `assistant`, `system`, `developer`, `tool` and
        /// `tool_result`.
        ///
        /// <https://platform.openai.com/docs/api-reference/chat/create>,
        /// <https://platform.openai.com/docs/api-reference/responses/create>,
        /// <https://platform.claude.com/docs/en/api/messages/create>, <https://ai.google.dev/api/caching#Content>.
        UnknownRole = "unknown-role",
        /// The conversation does not begin with the user.
        ///
        /// Anthropic: the first message is one of the user (<https://platform.claude.com/docs/en/api/messages/create>; the
        /// refusal: <https://github.com/lobehub/lobehub/issues/1601>). Gemini: a turn with function calls comes directly
        /// after one of the user or with function responses, so that it cannot be the first
        /// (<https://ai.google.dev/gemini-api/docs/function-calling>; the refusal:
        /// <https://github.com/google-gemini/gemini-cli/issues/11814>); a first turn of the model without calls is taken.
        WrongFirstRole = "wrong-first-role",
        /// Two turns of the assistant in a row, the second with calls.
        ///
        /// Gemini alone, as above: the call has to come directly after the user or a function response
        /// (<https://ai.google.dev/gemini-api/docs/function-calling>). Anthropic joins turns of one role
        /// (<https://platform.claude.com/docs/en/api/messages/create>), OpenAI takes them as they are.
        RepeatedRole = "repeated-role",
        /// A tool call in a message that is not the assistant's, which no format supports.
        ///
        /// <https://platform.openai.com/docs/guides/function-calling>,
        /// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>,
        /// <https://ai.google.dev/gemini-api/docs/function-calling>.
        MisplacedCall = "misplaced-call",
        /// A call without a result.
        ///
        /// Each call needs its result: <https://platform.openai.com/docs/guides/function-calling>,
        /// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>; Gemini wants as many function
        /// responses as there were calls (<https://ai.google.dev/gemini-api/docs/function-calling>; the refusal:
        /// <https://github.com/google-gemini/gemini-cli/issues/4217>).
        MissingResult = "missing-result",
        /// A result that no call precedes. The sources are those of
        /// [`Rule::MissingResult`].
        OrphanResult = "orphan-result",
        /// A result that is not directly after its call, or is in a message of the assistant or the system.
        ///
        /// Anthropic: in the very next turn, before all else in it
        /// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>). Gemini: in the very next turn
        /// (<https://ai.google.dev/gemini-api/docs/function-calling>; the refusal:
        /// <https://github.com/google-gemini/gemini-cli/pull/7692>). Chat Completions: messages of the role `tool` follow the
        /// message with the calls (<https://platform.openai.com/docs/api-reference/chat/create>; the refusal:
        /// <https://github.com/dimagi/open-chat-studio/issues/1659>). Responses matches by `call_id` and refuses no distance;
        /// everywhere the message must be one of the user or of results.
        MisplacedResult = "misplaced-result",
        /// A second result of one call.
        ///
        /// Anthropic: one `tool_result` for each `tool_use`
        /// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>; the refusal:
        /// <https://github.com/vectorize-io/hindsight/pull/4250>). Gemini: as many responses as calls. Chat Completions:
        /// <https://github.com/agno-agi/agno/issues/5116>. Responses:
        /// <https://github.com/NousResearch/hermes-agent/issues/102629>.
        DuplicateResult = "duplicate-result",
        /// A `call_id` that two calls share: in one message everywhere, in the whole conversation for Anthropic and Responses.
        ///
        /// Anthropic: the id of a call is unique
        /// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>; the refusal:
        /// <https://github.com/NVIDIA-NeMo/Switchyard/issues/502>). Responses:
        /// <https://github.com/NousResearch/hermes-agent/issues/102629>. The others:
        /// <https://github.com/openclaw/openclaw/pull/47136>, <https://ai.google.dev/api/caching#FunctionCall>.
        DuplicateCallId = "duplicate-call-id",
        /// A `call_id` that the provider does not accept.
        ///
        /// Anthropic: letters, digits, `_` and `-` (<https://platform.claude.com/docs/en/api/messages/create>; the refusal:
        /// <https://github.com/maximhq/bifrost/issues/5097>). Responses: 1 to 64 characters
        /// (<https://platform.openai.com/docs/api-reference/responses/create>; the refusal:
        /// <https://github.com/AnswerDotAI/fastllm/issues/45>).
        InvalidCallId = "invalid-call-id",
        /// A name of a called tool that the provider does not accept.
        ///
        /// Letters, digits, `_` and `-`, up to 64 for Chat Completions
        /// (<https://platform.openai.com/docs/api-reference/chat/create>), up to 128 for Responses
        /// (<https://platform.openai.com/docs/api-reference/responses/create>) and Anthropic
        /// (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools>); Gemini takes `.` and `:` too, up to
        /// 128 (<https://ai.google.dev/api/caching#FunctionDeclaration>).
        InvalidName = "invalid-name",
        /// Arguments of a call that are not a JSON object.
        ///
        /// Anthropic takes an object as `input` (<https://platform.claude.com/docs/en/api/messages/create>), Gemini as `args`
        /// (<https://ai.google.dev/api/caching#FunctionCall>). OpenAI takes the text as it is, and says itself that it need
        /// not be JSON (<https://platform.openai.com/docs/api-reference/chat/create>).
        InvalidArguments = "invalid-arguments",
        /// A part that lacks what its type needs, such as a text without `text`. No format can express it.
        InvalidPart = "invalid-part",
        /// A part of a type that no format supports.
        ///
        /// <https://platform.openai.com/docs/api-reference/chat/create>,
        /// <https://platform.openai.com/docs/api-reference/responses/create>,
        /// <https://platform.claude.com/docs/en/api/messages/create>, <https://ai.google.dev/api/caching#Part>.
        UnknownPart = "unknown-part",
        /// An image, video, audio or PDF that the provider does not accept, or not in a message of this role.
        ///
        /// Chat Completions: images, WAV and MP3 as base64, PDFs as base64, of the user
        /// (<https://platform.openai.com/docs/api-reference/chat/create>). Responses: images and PDFs of the user
        /// (<https://platform.openai.com/docs/api-reference/responses/create>). Anthropic: JPEG, PNG, GIF, WebP and PDF of the
        /// user (<https://platform.claude.com/docs/en/build-with-claude/vision>,
        /// <https://platform.claude.com/docs/en/build-with-claude/pdf-support>,
        /// <https://platform.claude.com/docs/en/api/migration-2026-10-21>). Gemini: all of them
        /// (<https://ai.google.dev/api/caching#Part>). In a system message nowhere.
        UnsupportedMedia = "unsupported-media",
        /// A message without content, or an empty text.
        ///
        /// Anthropic: texts have to have something but white space in them, and all messages but a last one of the assistant
        /// something (<https://platform.claude.com/docs/en/api/messages/create>; the refusals:
        /// <https://github.com/anthropics/anthropic-sdk-python/issues/461>,
        /// <https://github.com/glowingjade/obsidian-smart-composer/pull/156>).
        /// Gemini: a part needs data, a turn parts (<https://ai.google.dev/api/caching#Part>; the refusals:
        /// <https://github.com/router-for-me/CLIProxyAPI/issues/1292>, <https://github.com/vercel/ai/issues/3775>). Chat
        /// Completions: a message needs content, one of the assistant that or calls
        /// (<https://platform.openai.com/docs/api-reference/chat/create>; the refusal:
        /// <https://github.com/vercel/ai/pull/14950>), and an empty text will do. Responses gets no item for such a message.
        EmptyContent = "empty-content",
        /// Thinking that nothing follows.
        ///
        /// Anthropic: a turn of the assistant does not end with thinking
        /// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>; the refusal:
        /// <https://github.com/tailcallhq/forgecode/issues/3071>). Responses: a reasoning item needs the item that it led to
        /// (<https://platform.openai.com/docs/guides/reasoning>; the refusal:
        /// <https://github.com/openai/openai-node/issues/1567>). Where the provider cannot be given the thinking, nothing is
        /// left of such a message, which Chat Completions, Anthropic and Gemini refuse as [`Rule::EmptyContent`] tells.
        ThinkingAlone = "thinking-alone",
        /// Thinking that the provider wants back with its calls, and that cannot be sent.
        ///
        /// Anthropic, while the results of calls are handed in: the thinking before a call goes back with its signature
        /// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks>; the refusal:
        /// <https://github.com/n8n-io/n8n/issues/22550>). Gemini, since the last prompt: the first call of each step has the
        /// signature that the model gave it (<https://ai.google.dev/gemini-api/docs/thought-signatures>), seen by other calls
        /// that have one. Responses wants the reasoning before a call that has the id of its item, and calls go there without
        /// that id where their reasoning is gone (<https://platform.openai.com/docs/guides/reasoning>).
        ThinkingRemoved = "thinking-removed",
        /// A last message of the assistant that ends with white space. Anthropic would have to continue it, and refuses.
        ///
        /// <https://platform.claude.com/docs/en/build-with-claude/working-with-messages>.
        TrailingWhitespace = "trailing-whitespace",
    }
}

impl Rule {
    /// Whether a format has the rule. For a format that is not checkable: whether a repair follows it.
    pub fn holds_for(self, format: &dyn ProviderFormat) -> bool {
        let requirements = format.requirements();
        match self {
            Self::UnknownRole
            | Self::MisplacedCall
            | Self::MissingResult
            | Self::OrphanResult
            | Self::MisplacedResult
            | Self::DuplicateResult
            | Self::DuplicateCallId
            | Self::InvalidPart
            | Self::UnknownPart
            | Self::UnsupportedMedia => true,
            Self::NoMessages => requirements.message != RequiredMessage::None,
            Self::WrongFirstRole => requirements.first_turn != FirstTurn::Any,
            Self::RepeatedRole => requirements.refuses_calls_after_assistant,
            Self::InvalidCallId => requirements.call_ids.is_some(),
            Self::InvalidName => requirements.tool_names.is_some(),
            Self::InvalidArguments => requirements.has_argument_objects,
            Self::EmptyContent => requirements.empty_message != EmptyMessage::Accepted,
            Self::ThinkingAlone => requirements.is_checkable,
            Self::ThinkingRemoved => requirements.required_thinking != RequiredThinking::None,
            Self::TrailingWhitespace => requirements.refuses_trailing_whitespace,
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
