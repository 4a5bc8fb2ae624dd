//! Where the reply of each provider has its messages, and what else is kept of it.

use serde_json::Value;

use super::usage::Sum;
use super::{Place, Reply, Usage};
use crate::dict::{dict, set};
use crate::field::Field;
use peteos_conversation::error::ShapeError;
use peteos_json::{FieldPath, Object};

const INPUT: &str = "input_tokens";
const OUTPUT: &str = "output_tokens";
const CACHE_READ: &str = "cache_read_tokens";
const CACHE_WRITE: &str = "cache_write_tokens";
const REASONING: &str = "reasoning_tokens";

/// A Message: <https://docs.anthropic.com/en/api/messages>. Its `input_tokens` exclude those of the cache.
pub fn anthropic<'v>(reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
    const SUMS: [Sum; 4] = [
        (INPUT, &[&["input_tokens"], &["cache_read_input_tokens"], &["cache_creation_input_tokens"]]),
        (OUTPUT, &[&["output_tokens"]]),
        (CACHE_READ, &[&["cache_read_input_tokens"]]),
        (CACHE_WRITE, &[&["cache_creation_input_tokens"]]),
    ];
    let content = reply.required("content")?;
    let stop_reason = reply.get("stop_reason")?;
    Ok(Reply {
        messages: vec![dict! {"role": role(reply, "assistant")?, "content": content.value.clone()}],
        place: Place::Single(FieldPath::root()),
        model: reply.optional_string("model")?,
        response_id: reply.optional_string("id")?,
        is_finished: says(&stop_reason, &["end_turn", "stop_sequence", "pause_turn"]),
        stop_reason,
        usage: Usage::read(reply.get("usage")?, &SUMS)?,
    })
}

/// A chat completion, its first choice: <https://platform.openai.com/docs/api-reference/chat/object>.
pub fn openai_chat<'v>(reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
    const SUMS: [Sum; 4] = [
        (INPUT, &[&["prompt_tokens"]]),
        (OUTPUT, &[&["completion_tokens"]]),
        (CACHE_READ, &[&["prompt_tokens_details", "cached_tokens"]]),
        (REASONING, &[&["completion_tokens_details", "reasoning_tokens"]]),
    ];
    let choice = first(&reply.required("choices")?, "no choice")?;
    let message = choice.required("message")?;
    role(&message, "assistant")?;
    let fields = message.object()?.iter().filter(|(key, value)| match key.as_str() {
        // The SDK's `parse` adds what it parsed.
        "parsed" => false,
        "annotations" => value.as_array().is_none_or(|list| !list.is_empty()),
        _ => !value.is_null(),
    });
    let mut fields: Object = fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    fields.entry("role").or_insert_with(|| "assistant".into());
    if let Some(calls) = fields.get_mut("tool_calls").and_then(Value::as_array_mut) {
        for function in calls.iter_mut().filter_map(|call| call.get_mut("function")?.as_object_mut()) {
            function.shift_remove("parsed_arguments");
        }
    }
    let stop_reason = choice.get("finish_reason")?;
    Ok(Reply {
        messages: vec![fields.into()],
        place: Place::Single(message.path()),
        model: reply.optional_string("model")?,
        response_id: reply.optional_string("id")?,
        is_finished: says(&stop_reason, &["stop"]),
        stop_reason,
        usage: Usage::read(reply.get("usage")?, &SUMS)?,
    })
}

/// A response: <https://platform.openai.com/docs/api-reference/responses/object>.
pub fn openai_responses<'v>(reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
    const SUMS: [Sum; 4] = [
        (INPUT, &[&["input_tokens"]]),
        (OUTPUT, &[&["output_tokens"]]),
        (CACHE_READ, &[&["input_tokens_details", "cached_tokens"]]),
        (REASONING, &[&["output_tokens_details", "reasoning_tokens"]]),
    ];
    let output = reply.required("output")?;
    let status = reply.get("status")?;
    if let Some(status) = status.as_ref().filter(|status| !says_one(status, &["completed", "incomplete"])) {
        return Err(status.fault(format!("the response is {}; append it once it is completed", status.value)));
    }
    let incomplete = reply.get("incomplete_details")?.map(|details| details.get("reason")).transpose()?.flatten();
    let mut messages = Vec::new();
    for item in output.items()? {
        item.object()?;
        messages.push(without_parsed(item.value));
    }
    Ok(Reply {
        messages,
        place: Place::List(output.path()),
        model: reply.optional_string("model")?,
        response_id: reply.optional_string("id")?,
        is_finished: status.as_ref().is_none_or(|status| says_one(status, &["completed"])),
        stop_reason: incomplete.or(status),
        usage: Usage::read(reply.get("usage")?, &SUMS)?,
    })
}

/// An item without what the SDK's `parse` adds.
fn without_parsed(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        fields.shift_remove("parsed_arguments");
    }
    for part in item.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = part.as_object_mut() {
            fields.shift_remove("parsed");
        }
    }
    item
}

/// A response of `generateContent`, its first candidate: <https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse>.
/// Its counts of candidates exclude the thoughts.
pub fn gemini<'v>(reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
    const SUMS: [Sum; 4] = [
        (INPUT, &[&["promptTokenCount"], &["toolUsePromptTokenCount"]]),
        (OUTPUT, &[&["candidatesTokenCount"], &["thoughtsTokenCount"]]),
        (CACHE_READ, &[&["cachedContentTokenCount"]]),
        (REASONING, &[&["thoughtsTokenCount"]]),
    ];
    if let Some(reason) =
        reply.get("promptFeedback")?.map(|feedback| feedback.get("blockReason")).transpose()?.flatten()
    {
        return Err(reason.fault(format!("the prompt was blocked because of {}; nothing was appended", reason.value)));
    }
    let candidate = first(&reply.required("candidates")?, "no candidate")?;
    let mut message = dict! {"role": "model", "parts": Vec::<Value>::new()};
    if let Some(content) = candidate.get("content")? {
        role(&content, "model")?;
        if let Some(parts) = content.get("parts")? {
            set(&mut message, "parts", parts.value.clone());
        }
    }
    let stop_reason = candidate.get("finishReason")?;
    Ok(Reply {
        messages: vec![message],
        place: Place::Single(candidate.path().key("content")),
        model: reply.optional_string("modelVersion")?,
        response_id: reply.optional_string("responseId")?,
        is_finished: says(&stop_reason, &["STOP"]),
        stop_reason,
        usage: Usage::read(reply.get("usageMetadata")?, &SUMS)?,
    })
}

/// The result of `generateText`, or the awaited fields of one of `streamText`:
/// <https://ai-sdk.dev/docs/reference/ai-sdk-core/generate-text>. Its messages are those of all steps, and so is its
/// `totalUsage`.
pub fn ai_sdk<'v>(reply: &Field<'v>) -> Result<Reply<'v>, ShapeError> {
    const SUMS: [Sum; 4] = [
        (INPUT, &[&["inputTokens"]]),
        (OUTPUT, &[&["outputTokens"]]),
        (CACHE_WRITE, &[&["inputTokenDetails", "cacheWriteTokens"]]),
        (REASONING, &[&["outputTokenDetails", "reasoningTokens"]]),
    ];
    const NEW_CACHE: Sum = (CACHE_READ, &[&["inputTokenDetails", "cacheReadTokens"]]);
    const OLD_CACHE: Sum = (CACHE_READ, &[&["cachedInputTokens"]]);
    let response = reply.required("response")?;
    let messages = response.required("messages")?;
    let stop_reason = reply.get("finishReason")?;
    let usage = reply.get("totalUsage")?.or(reply.get("usage")?);
    let has_details = usage.as_ref().is_some_and(|usage| usage.value.get("inputTokenDetails").is_some());
    let [input, output, write, reasoning] = SUMS;
    let cache = if has_details { NEW_CACHE } else { OLD_CACHE };
    Ok(Reply {
        messages: messages.items()?.iter().map(|message| message.value.clone()).collect(),
        place: Place::List(messages.path()),
        model: response.optional_string("modelId")?,
        response_id: response.optional_string("id")?,
        is_finished: says(&stop_reason, &["stop", "tool-calls"]),
        stop_reason,
        usage: Usage::read(usage, &[input, output, cache, write, reasoning])?,
    })
}

/// The role of a message, which may only be this one.
fn role(message: &Field, expected: &'static str) -> Result<&'static str, ShapeError> {
    match message.optional_string("role")? {
        Some(other) if other != expected => Err(message
            .fault_at("role", format!("expected {expected:?}, found {other:?}; append other messages one by one"))),
        _ => Ok(expected),
    }
}

fn first<'v>(list: &Field<'v>, none: &str) -> Result<Field<'v>, ShapeError> {
    list.items()?.into_iter().next().ok_or_else(|| list.fault(format!("there is {none}; nothing was appended")))
}

fn says(reason: &Option<Field>, words: &[&str]) -> bool {
    reason.as_ref().is_none_or(|reason| says_one(reason, words))
}

fn says_one(reason: &Field, words: &[&str]) -> bool {
    reason.value.as_str().is_some_and(|reason| words.contains(&reason))
}
