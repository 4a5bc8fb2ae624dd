//! The handle of a context that JavaScript holds.

use std::iter;

use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::bytes::copied;
use super::environment::JsEnvironment;
use super::windows::{Counts, SequenceWindow, TokenWindow};
use super::{
    args, completed_view, given_message, in_argument, in_message, memory, reports, special_message, text, value,
};
use crate::conversation::{
    Context, ForkOptions, MAX_MESSAGE_DEPTH, MESSAGES, Message, NewConversation, SequenceRange, Special,
};
use crate::error::{Error, ShapeError};
use crate::json::{self, FieldPath, View};
use crate::limits::Limits;
use crate::session::SharedContext;
use crate::window::Windows;

/// The maximum length in bytes of the messages that cross together, because JavaScript limits the length of a string.
const LONG_TEXT: usize = 1 << 26;

/// The handle that the class `Context` in `js/` wraps.
#[wasm_bindgen]
pub struct ContextHandle(SharedContext);

impl From<SharedContext> for ContextHandle {
    fn from(context: SharedContext) -> Self {
        Self(context)
    }
}

impl From<Context> for ContextHandle {
    fn from(context: Context) -> Self {
        Self(SharedContext::new(context))
    }
}

impl ContextHandle {
    pub(super) fn shared(&self) -> &SharedContext {
        &self.0
    }

    /// The handle of a context that does not exceed the limits.
    fn within(mut context: Context, limits: Limits) -> Result<Self, JsValue> {
        context.set_limits(limits);
        context.check_limits().map_err(Error::from)?;
        Ok(context.into())
    }

    /// The limits on the file of the context.
    fn limits(&self) -> Limits {
        self.0.read(Context::limits)
    }

    /// The name of the file.
    fn file(&self) -> String {
        self.0.id().file_name()
    }
}

#[wasm_bindgen]
impl ContextHandle {
    pub fn create(
        system_prompt: Option<String>,
        tool_definitions: Option<String>,
        options: &JsValue,
    ) -> Result<Self, JsValue> {
        let limits = args::limits(options, Limits::default())?;
        let (system_prompt, tool_definitions) = specials(system_prompt, tool_definitions)?;
        let environment = JsEnvironment::capture()?;
        let mut context = Context::create(system_prompt, tool_definitions, None, &environment);
        context.set_limits(limits);
        Ok(context.into())
    }

    #[wasm_bindgen(js_name = createFrom)]
    pub fn create_from(
        parent: &ContextHandle,
        system_prompt: Option<String>,
        tool_definitions: Option<String>,
        options: &JsValue,
    ) -> Result<Self, JsValue> {
        let limits = args::limits(options, parent.0.read(Context::limits))?;
        let (system_prompt, tool_definitions) = specials(system_prompt, tool_definitions)?;
        let environment = JsEnvironment::capture()?;
        let create = |parent: &Context| Context::create(system_prompt, tool_definitions, Some(parent), &environment);
        let mut context = parent.0.read(create);
        context.set_limits(limits);
        Ok(context.into())
    }

    /// The context of the dict in the [`super::text::text_buffer`].
    #[wasm_bindgen(js_name = fromDict)]
    pub fn from_dict(bytes: usize, options: &JsValue) -> Result<Self, JsValue> {
        let limits = args::limits(options, Limits::default())?;
        memory::keep_room();
        let environment = JsEnvironment::capture()?;
        let at_fault = in_argument("dict");
        let file = || "the file of dict".to_owned();
        let dict = text::with_text(bytes, |text| value(text, json::MAX_DEPTH, limits, file, &at_fault))?;
        let context = Context::from_dict(dict, None, &environment).map_err(&at_fault)?;
        if context.id().as_str().starts_with('.') {
            // Its file would be hidden: nothing that lists the directory would take it for a context.
            let fault = format!("{:?} begins with a dot; such files belong to the storage", context.id().as_str());
            return Err(at_fault(ShapeError::new(FieldPath::root().key("id"), fault)).into());
        }
        Self::within(context, limits)
    }

    /// Whether both are handles to the same context.
    pub fn is(&self, other: &ContextHandle) -> bool {
        self.0.is(&other.0)
    }

    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Increases with every change.
    #[wasm_bindgen(getter)]
    pub fn revision(&self) -> f64 {
        args::to_number(self.0.read(Context::revision))
    }

    #[wasm_bindgen(getter, js_name = messageCount)]
    pub fn message_count(&self) -> usize {
        self.0.read(|context| context.messages().len())
    }

    /// The key of each message, which is new for each new and each changed message.
    #[wasm_bindgen(js_name = messageKeys)]
    pub fn message_keys(&self) -> Vec<f64> {
        self.0.read(|context| context.message_keys().map(args::to_number).collect())
    }

    /// The JSON array of the messages at these positions, cut off after [`LONG_TEXT`] bytes.
    #[wasm_bindgen(js_name = messagesText)]
    pub fn messages_text(&self, positions: &[u32]) -> Result<String, JsValue> {
        Ok(self.0.read(|context| {
            let mut items = Vec::new();
            let mut size = 0;
            for message in positions.iter().filter_map(|&position| context.message(position as usize)) {
                let message = View::Object(message.dict());
                size += json::copy_size(&message);
                items.push(message);
                if size > LONG_TEXT {
                    break;
                }
            }
            reports::compact_text(&View::Array(items))
        })?)
    }

    /// The JSON text of the conversation, for the module of the providers.
    #[wasm_bindgen(js_name = conversationText)]
    pub fn conversation_text(&self) -> Result<Vec<u8>, JsValue> {
        let text = self.0.read(|context| json::to_compact_text(&context.conversation_view()));
        Ok(text.map_err(Error::from)?.into_bytes())
    }

    /// The context of a new conversation, as the module of the providers returns it.
    #[wasm_bindgen(js_name = fromConversation)]
    pub fn from_conversation(text: &JsValue, options: &JsValue) -> Result<Self, JsValue> {
        let limits = args::limits(options, Limits::default())?;
        let text = copied(text, "a conversation").map_err(Error::from)?.unwrap_or_default();
        memory::make_room_for_json(&text);
        let file = || "the file of value".to_owned();
        let conversation = value(&text, json::MAX_DEPTH, limits, file, in_argument("value"))?;
        json::ensure_copies(&(&conversation).into(), 2, "a context of the messages").map_err(Error::from)?;
        let environment = JsEnvironment::capture()?;
        let context = NewConversation::from_value(conversation).into_context(&environment);
        Self::within(context.map_err(Error::from)?, limits)
    }

    /// The dict with an empty list of messages.
    #[wasm_bindgen(js_name = dictText)]
    pub fn dict_text(&self) -> Result<String, JsValue> {
        Ok(self.0.read(|context| reports::compact_text(&context.view_without_messages()))?)
    }

    #[wasm_bindgen(js_name = setDict)]
    pub fn set_dict(&self, bytes: usize) -> Result<(), JsValue> {
        memory::keep_room();
        let read = |text: &[u8]| value(text, json::MAX_DEPTH, self.limits(), || self.file(), in_argument("rawDict"));
        let dict = text::with_text(bytes, read)?;
        // Messages that did not change are copied from the previous dict.
        self.ensure_copies(1)?;
        let environment = JsEnvironment::capture()?;
        Ok(self.0.change(|context| context.replace_dict(dict, &environment).map_err(Error::from))?)
    }

    /// The position of the special message of this kind: `SystemPromptMessage` or `ToolDefinitionsMessage`.
    #[wasm_bindgen(js_name = specialPosition)]
    pub fn special_position(&self, kind: &str) -> Option<usize> {
        let kind = Special::ALL.into_iter().find(|special| special.type_name() == kind)?;
        self.0.read(|context| context.special(kind))
    }

    /// Appends the message in the [`super::text::text_buffer`], by default at the end of the conversation. Returns its key
    /// and its [`completed_view`], as JSON.
    pub fn append(&self, bytes: usize, anchor: &JsValue) -> Result<String, JsValue> {
        let (message, given) = given_message(bytes, self.limits(), || self.file())?;
        let anchor = if anchor.is_undefined() { MESSAGES.to_owned() } else { args::string(anchor, "anchorPoint")? };
        let position = self.0.change(|context| context.append(message, &anchor))?;
        Ok(self.0.read(|context| {
            let key = View::Number(context.message_key(position).unwrap_or_default());
            let message = context.message(position).map(|message| completed_view(message, given));
            reports::compact_text(&View::Array(iter::once(key).chain(message).collect()))
        })?)
    }

    /// Appends all messages of a JSON array at the end of the conversation, or none. Returns their positions.
    #[wasm_bindgen(js_name = appendAll)]
    pub fn append_all(&self, text: &[u8]) -> Result<Vec<usize>, JsValue> {
        memory::make_room_for_json(text);
        let dicts = value(text, json::MAX_DEPTH, self.limits(), || self.file(), in_message)?;
        let environment = JsEnvironment::capture()?;
        let Value::Array(dicts) = dicts else { return Ok(Vec::new()) };
        let messages: Result<_, _> = dicts.into_iter().map(|dict| Message::given(dict, &environment)).collect();
        let messages = messages.map_err(in_message)?;
        Ok(self.0.change(|context| context.append_all(messages, MESSAGES))?)
    }

    /// Changes fields of a message, given as JSON in the [`super::text::text_buffer`]. Returns its new key, its old key and
    /// the stored message, as JSON.
    #[wasm_bindgen(js_name = updateMessage)]
    pub fn update_message(&self, id: &JsValue, bytes: usize) -> Result<String, JsValue> {
        let id = args::string(id, "id")?;
        let old_key = self.0.read(|context| {
            let position = context.messages().position(|message| message.id() == id);
            position.and_then(|position| context.message_key(position))
        });
        let changes = |text: &[u8]| value(text, MAX_MESSAGE_DEPTH, self.limits(), || self.file(), in_message);
        let changes = text::with_text(bytes, changes)?;
        json::ensure_copies(&(&changes).into(), 2, "a copy of the message").map_err(Error::from)?;
        self.ensure_copies(1)?;
        let position = self.0.change(|context| context.update_message(&id, changes))?;
        Ok(self.0.read(|context| {
            let keys = [context.message_key(position), old_key].map(|key| View::Number(key.unwrap_or_default()));
            let message = context.message(position).map(|message| message.dict().into());
            reports::compact_text(&View::Array(keys.into_iter().chain(message).collect()))
        })?)
    }

    #[wasm_bindgen(js_name = addAnchor)]
    pub fn add_anchor(&self, name: &JsValue, index: &JsValue, after_existing: &JsValue) -> Result<(), JsValue> {
        let name = args::string(name, "name")?;
        let index = args::non_negative_integer(index, "index")?;
        let after_existing = args::boolean(after_existing, "options.afterExisting")?;
        Ok(self.0.change(|context| context.add_anchor(&name, index, after_existing))?)
    }

    pub fn fork(
        &self,
        start: &JsValue,
        end: &JsValue,
        system_prompt: Option<String>,
        tool_definitions: Option<String>,
    ) -> Result<Self, JsValue> {
        let range = SequenceRange {
            start: args::optional_integer(start, "options.start")?,
            end: args::optional_integer(end, "options.end")?,
        };
        let (system_prompt, tool_definitions) = specials(system_prompt, tool_definitions)?;
        let options = ForkOptions { range, system_prompt, tool_definitions };
        self.ensure_copies(1)?;
        let environment = JsEnvironment::capture()?;
        Ok(self.0.fork(|context| Ok(context.fork(options, &environment)))?.into())
    }

    #[wasm_bindgen(js_name = stripThinking)]
    pub fn strip_thinking(&self) -> Result<Self, JsValue> {
        // The parts that stay are copied twice.
        self.ensure_copies(2)?;
        let environment = JsEnvironment::capture()?;
        Ok(self.0.fork(|context| Ok(context.strip_thinking(&environment)))?.into())
    }

    #[wasm_bindgen(js_name = rollingSequenceWindow)]
    pub fn rolling_sequence_window(&self, count: &JsValue, options: &JsValue) -> Result<Option<Self>, JsValue> {
        let SequenceWindow { count, options } = SequenceWindow::read(count, options)?;
        self.ensure_copies(1)?;
        let environment = JsEnvironment::capture()?;
        let window = |context: &mut Context| context.rolling_sequence_window(count, &options, &environment);
        Ok(self.0.window(window)?.map(Self::from))
    }

    #[wasm_bindgen(js_name = rollingTokenWindow)]
    pub fn rolling_token_window(
        &self,
        max_tokens: &JsValue,
        encoding: &JsValue,
        options: &JsValue,
    ) -> Result<Option<Self>, JsValue> {
        let window = TokenWindow::read(max_tokens, encoding, options)?;
        self.ensure_copies(1)?;
        let environment = JsEnvironment::capture()?;
        let child = self.0.window(|context| {
            context.rolling_token_window(window.budget, &window.counting(), &window.options, &environment)
        });
        Ok(child?.map(Self::from))
    }

    /// The compact report as JSON.
    #[wasm_bindgen(js_name = planSequenceWindow)]
    pub fn plan_sequence_window(&self, count: &JsValue, options: &JsValue) -> Result<String, JsValue> {
        let SequenceWindow { count, options } = SequenceWindow::read(count, options)?;
        self.ensure_copies(1)?;
        let report = self.0.read(|context| context.plan_sequence_window(count, &options))?;
        Ok(reports::window_text(&report)?)
    }

    /// The compact report as JSON.
    #[wasm_bindgen(js_name = planTokenWindow)]
    pub fn plan_token_window(
        &self,
        max_tokens: &JsValue,
        encoding: &JsValue,
        options: &JsValue,
    ) -> Result<String, JsValue> {
        let window = TokenWindow::read(max_tokens, encoding, options)?;
        self.ensure_copies(1)?;
        let plan = |context: &Context| context.plan_token_window(window.budget, &window.counting(), &window.options);
        Ok(reports::window_text(&self.0.read(plan)?)?)
    }

    #[wasm_bindgen(js_name = totalTokenCount)]
    pub fn total_token_count(&self, encoding: &JsValue, options: &JsValue) -> Result<f64, JsValue> {
        let counts = Counts::read(encoding, options)?;
        self.ensure_copies(1)?;
        let total = self.0.read(|context| counts.counting().total(context)).map_err(Error::from)?;
        Ok(args::to_number(total))
    }

    #[wasm_bindgen(js_name = tokenCounts)]
    pub fn token_counts(&self, encoding: &JsValue, options: &JsValue) -> Result<Vec<f64>, JsValue> {
        let counts = Counts::read(encoding, options)?;
        self.ensure_copies(1)?;
        let counting = counts.counting();
        let counts: Result<_, Error> = self.0.read(|context| {
            let positions = 0..context.messages().len();
            positions.map(|position| Ok(args::to_number(counting.tokens(context, position)?))).collect()
        });
        Ok(counts?)
    }

    /// The text in which the tokens of the message at a position are counted.
    #[wasm_bindgen(js_name = countedText)]
    pub fn counted_text(&self, position: usize, with_media: bool) -> Result<String, JsValue> {
        let text = |context: &Context| {
            context.message(position).map_or_else(|| Ok(String::new()), |message| message.counted_text_of(with_media))
        };
        Ok(self.0.read(text).map_err(Error::from)?)
    }
}

impl ContextHandle {
    /// Ensures that copies of all messages fit into the memory.
    pub(super) fn ensure_copies(&self, copies: usize) -> Result<(), Error> {
        Ok(self.0.read(|context| memory::ensure_copies(context, copies, "a copy of the context"))?)
    }
}

/// The special messages that a caller passes as JSON text.
pub(super) fn specials(
    system_prompt: Option<String>,
    tool_definitions: Option<String>,
) -> Result<(Option<Message>, Option<Message>), Error> {
    let message = |kind, text: Option<String>, option: &str| {
        let made = text.map(|text| special_message(kind, text)).transpose();
        // The error is about the message; the option says which of the two it is.
        made.map_err(|error| match error {
            Error::InvalidMessage { field, message } => {
                Error::InvalidMessage { field, message: format!("{message} (in options.{option})") }
            }
            other => other,
        })
    };
    Ok((
        message(Special::SystemPrompt, system_prompt, "systemPromptMessage")?,
        message(Special::ToolDefinitions, tool_definitions, "toolDefinitionsMessage")?,
    ))
}
