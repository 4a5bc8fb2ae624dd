//! Moves media out of tool results, for a format that only takes texts there.

use serde_json::Value;

use super::dict::{dict, set};
use super::format::ProviderFormat;
use super::originals::Originals;
use super::part::{Part, ResultContent};
use super::stored;
use peteos_conversation::{Message, PartKind};

/// The messages with the media of their results in messages of the user behind them, each labelled with its call. `None` if
/// there are no such media.
pub fn behind_results(messages: &[(usize, &Message)], format: &dyn ProviderFormat) -> Option<Vec<(usize, Message)>> {
    // What the provider itself sent stays as it was.
    let is_kept = |message: &Message, part: usize| {
        Originals::of(message, format).is_some_and(|originals| originals.is_kept(part))
    };
    let has_media = |message: &Message| {
        let mut parts = message.parts().iter().enumerate();
        parts.any(|(index, part)| media_of(part).next().is_some() && !is_kept(message, index))
    };
    let has_results = |message: &Message| message.kinds().contains(PartKind::ToolResult);
    if !messages.iter().any(|(_, message)| has_results(message) && has_media(message)) {
        return None;
    }
    let mut moved = Vec::with_capacity(messages.len() + 1);
    let mut behind: Vec<Value> = Vec::new();
    let mut place = 0;
    let shown = |position, parts: &mut Vec<Value>| {
        let dict = dict! {"role": "user", "content": std::mem::take(parts)};
        dict.as_object().cloned().map(|dict| (position, Message::of_dict(dict)))
    };
    for &(position, message) in messages {
        // Results of consecutive messages stay together.
        if !behind.is_empty() && !has_results(message) {
            moved.extend(shown(place, &mut behind));
        }
        place = position;
        if !has_media(message) {
            moved.push((position, message.clone()));
            continue;
        }
        let mut parts = message.parts().to_vec();
        for (index, part) in parts.iter_mut().enumerate() {
            let media: Vec<Value> = media_of(part).cloned().collect();
            if media.is_empty() || is_kept(message, index) {
                continue;
            }
            let call_id = part["call_id"].as_str().unwrap_or_default();
            behind.push(stored::text(&format!("[from the tool call {call_id}]")));
            behind.extend(media);
            if let Part::Result { content, .. } = Part::read(part) {
                let text = content.joined();
                set(part, "content", text.into());
            }
        }
        moved.push((position, message.with_content(parts.into())));
    }
    if !behind.is_empty() {
        moved.extend(shown(place, &mut behind));
    }
    Some(moved)
}

/// The media in a part that is a valid result.
fn media_of(part: &Value) -> impl Iterator<Item = &Value> {
    let is_result = matches!(Part::read(part), Part::Result { content: ResultContent::Parts(_), .. });
    let parts = if is_result { part["content"].as_array() } else { None };
    parts.into_iter().flatten().filter(|part| PartKind::of(part) == PartKind::Media)
}
