//! Replays a conversation request by request under a policy, and counts what a provider with a prompt cache would bill.

use serde::Serialize;
use serde_json::Value;

use super::options::Options;
use super::policy::{Policy, Work};
use super::step::{StepKind, StepTools};
use crate::conversation::{Context, MESSAGES, Message};
use crate::error::Error;
use crate::json::FieldPath;
use crate::tokens::total;

/// The price of a token by how it is billed, in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// A token that the provider reads from its cache.
    pub cache_read: f64,
    /// A token that the provider writes to its cache.
    pub cache_write: f64,
    /// A token of the model's reply.
    pub output: f64,
}

impl Prices {
    /// Reads prices: an object with `input` and `output`, and `cacheRead` and `cacheWrite`, which are `input` if absent.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a price that is missing or no non-negative number.
    pub fn read(value: &Value, path: FieldPath, argument: &'static str) -> Result<Self, Error> {
        let mut options = Options::new(value, path, argument)?;
        let input = options.price("input")?;
        let input = options.required("input", input)?;
        let output = options.price("output")?;
        let prices = Self {
            cache_read: options.price("cacheRead")?.unwrap_or(input),
            cache_write: options.price("cacheWrite")?.unwrap_or(input),
            output: options.required("output", output)?,
        };
        options.finish()?;
        Ok(prices)
    }
}

/// What a conversation would have cost under a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// The number of requests: one for each message of the assistant.
    pub requests: u64,
    /// The tokens of all requests together.
    pub tokens_sent: u64,
    /// The tokens of the largest request.
    pub peak_tokens: u64,
    /// The number of requests that do not begin with the whole of the one before, so that the cache is of less use.
    pub cache_breaks: u64,
    /// What all requests and replies cost, in the unit of the prices.
    pub cost: f64,
    /// The number of messages that the last request had.
    pub kept_messages: u64,
    /// The tokens that the last request had.
    pub kept_tokens: u64,
    /// The requests in order.
    pub rows: Vec<RequestReport>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestReport {
    /// The id of the message that answered it.
    pub message_id: String,
    /// The tokens of the request.
    pub tokens: u64,
    /// The tokens among them that the request before had at the same place.
    pub cached_tokens: u64,
    /// The tokens of the reply.
    pub output_tokens: u64,
    /// What the request and the reply cost.
    pub cost: f64,
    /// The steps of the policy that changed something before this request.
    pub steps: Vec<StepKind>,
}

impl Simulation {
    /// Replays a context. Before each message of the assistant, the messages so far, as the policy has left them, are fitted and
    /// sent. The longest beginning that is equal to that of the request before is read from the cache, the rest is written
    /// to it. `system_tokens` are sent in front of each request.
    ///
    /// # Errors
    ///
    /// Those of the policy.
    pub fn run(
        context: &Context,
        policy: &Policy,
        prices: Prices,
        system_tokens: u64,
        tools: StepTools,
    ) -> Result<Self, Error> {
        // Each message is counted once: copies know the count.
        total(context.messages().map(|message| message.tokens(tools.counter)))?;
        let specials = context.specials();
        let special = |index: usize| specials[index].and_then(|position| context.message(position)).cloned();
        let mut work = Work::growing(Context::create(special(0), special(1), None, tools.environment));
        let mut simulation = Self::default();
        let mut sent: Vec<u64> = Vec::new();
        for (position, message) in context.messages().enumerate() {
            if specials.contains(&Some(position)) {
                continue;
            }
            if message.role() == "assistant" {
                let steps = policy.run(&mut work, tools, &mut |step, _, _| Ok(step.kind()))?;
                let keys: Vec<u64> = work.context.message_keys().collect();
                let same = keys.iter().zip(&sent).take_while(|(now, before)| now == before).count();
                let is_first = simulation.requests == 0;
                let counts = |messages: usize| {
                    let messages = work.context.messages().take(messages);
                    total(messages.map(|message| message.tokens(tools.counter)))
                };
                let tokens = counts(keys.len())?.saturating_add(system_tokens);
                let cached_tokens = if is_first { 0 } else { counts(same)?.saturating_add(system_tokens) };
                let output_tokens = message.tokens(tools.counter)?;
                let cost = cached_tokens as f64 * prices.cache_read
                    + (tokens - cached_tokens) as f64 * prices.cache_write
                    + output_tokens as f64 * prices.output;
                simulation.cache_breaks += u64::from(same < sent.len());
                simulation.kept_messages = keys.len() as u64;
                sent = keys;
                simulation.add(RequestReport {
                    message_id: message.id().to_owned(),
                    tokens,
                    cached_tokens,
                    output_tokens,
                    cost,
                    steps,
                });
            }
            work.context.append(Message::clone(message), MESSAGES)?;
        }
        Ok(simulation)
    }

    fn add(&mut self, request: RequestReport) {
        self.requests += 1;
        self.tokens_sent = self.tokens_sent.saturating_add(request.tokens);
        self.peak_tokens = self.peak_tokens.max(request.tokens);
        self.kept_tokens = request.tokens;
        self.cost += request.cost;
        self.rows.push(request);
    }
}
