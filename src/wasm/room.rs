//! Steps, policies, summaries and simulations. They cross as JSON text.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use super::context::ContextHandle;
use super::encodings::{self, Counter};
use super::environment::JsEnvironment;
use super::graphemes::Graphemes;
use super::session::SessionHandle;
use super::{reports, value};
use crate::conversation::Context;
use crate::error::Error;
use crate::json::{self, FieldPath};
use crate::room::{
    Policy, Prices, Simulation, Step, StepKind, StepReport, StepTools, Summary, SummaryRange, summary_prompt,
};
use crate::tokens::TokenCounter;

/// What steps use, as the module has it.
struct Tools {
    counter: Counter,
    graphemes: Graphemes,
}

impl Tools {
    /// Must be called before anything is borrowed, because reading a vocabulary runs JavaScript.
    fn new(encoding: &JsValue) -> Result<Self, JsValue> {
        Ok(Self { counter: encodings::counter(encoding)?, graphemes: Graphemes::new() })
    }

    fn as_tools(&self) -> StepTools<'_> {
        StepTools { counter: &self.counter, graphemes: &self.graphemes }
    }
}

fn parsed(text: &str, argument: &str) -> Result<serde_json::Value, Error> {
    value(text, json::MAX_DEPTH).map_err(|error| error.in_argument(argument))
}

fn step(text: &str) -> Result<Step, Error> {
    Step::read(&parsed(text, "options")?, FieldPath::root(), "options")
}

fn policy(text: &str) -> Result<Policy, Error> {
    Policy::read(&parsed(text, "policy")?, "policy")
}

/// A step as a change of a context.
fn take_step<'s>(
    step: &'s Step,
    tools: &'s Tools,
    environment: &'s JsEnvironment,
) -> impl FnOnce(&mut Context) -> Result<Option<Context>, Error> + 's {
    move |context| {
        let edits = step.edits(context, tools.as_tools())?;
        Ok((!edits.is_empty()).then(|| edits.fork(context, environment)))
    }
}

#[wasm_bindgen]
impl ContextHandle {
    /// The fork that a step makes; `undefined` if nothing changes.
    #[wasm_bindgen(js_name = takeStep)]
    pub fn take_step(&self, text: &str, encoding: &JsValue) -> Result<Option<Self>, JsValue> {
        let (step, tools, environment) = (step(text)?, Tools::new(encoding)?, JsEnvironment::capture()?);
        Ok(self.shared().window(take_step(&step, &tools, &environment))?.map(Self::from))
    }

    /// The report of a step, as JSON.
    #[wasm_bindgen(js_name = planStep)]
    pub fn plan_step(&self, text: &str, encoding: &JsValue) -> Result<String, JsValue> {
        let (step, tools) = (step(text)?, Tools::new(encoding)?);
        Ok(reports::text(&self.shared().read(|context| step.plan(context, tools.as_tools()))?)?)
    }

    /// The fork that a policy makes and the JSON of its reports; `undefined` if nothing changes.
    pub fn fit(&self, text: &str, encoding: &JsValue) -> Result<Option<Array>, JsValue> {
        let (policy, tools, environment) = (policy(text)?, Tools::new(encoding)?, JsEnvironment::capture()?);
        let mut reports = Vec::new();
        let child = self.shared().window(|context| fit(context, &policy, &tools, &environment, &mut reports))?;
        pair(child.map(Self::from), &reports)
    }

    /// The JSON of the reports of a policy.
    #[wasm_bindgen(js_name = planFit)]
    pub fn plan_fit(&self, text: &str, encoding: &JsValue) -> Result<String, JsValue> {
        let (policy, tools) = (policy(text)?, Tools::new(encoding)?);
        Ok(reports::text(&self.shared().read(|context| policy.plan(context, tools.as_tools()))?.reports)?)
    }

    /// The fork with a summary.
    pub fn summarize(&self, range: JsValue, text: String, encoding: &JsValue) -> Result<Self, JsValue> {
        let (summary, counter, environment) = summary(range, text, encoding)?;
        let summarize = |context: &mut Context| {
            let edits = summary.edits(context, &counter, &environment)?;
            Ok(edits.fork(context, &environment))
        };
        Ok(self.shared().fork(summarize)?.into())
    }

    /// The report of a summary, as JSON.
    #[wasm_bindgen(js_name = planSummary)]
    pub fn plan_summary(&self, range: JsValue, text: String, encoding: &JsValue) -> Result<String, JsValue> {
        let (summary, counter, environment) = summary(range, text, encoding)?;
        let report = self.shared().read(|context| {
            let edits = summary.edits(context, &counter, &environment)?;
            StepReport::new(StepKind::Summarize, context, &edits, &counter)
        })?;
        Ok(reports::text(&report)?)
    }

    /// A prompt that asks for a summary.
    #[wasm_bindgen(js_name = summaryPrompt)]
    pub fn summary_prompt(&self, range: JsValue) -> Result<String, JsValue> {
        let range = summary_range(range)?;
        Ok(self.shared().read(|context| summary_prompt(context, &range))?)
    }

    /// What the conversation would have cost under a policy, as JSON. `prices` is JSON text, and `system` a text that is sent
    /// in front of each request.
    pub fn simulate(
        &self,
        policy_text: &str,
        prices: &str,
        system: &str,
        encoding: &JsValue,
    ) -> Result<String, JsValue> {
        let (policy, tools, environment) = (policy(policy_text)?, Tools::new(encoding)?, JsEnvironment::capture()?);
        let prices = Prices::read(&parsed(prices, "options")?, FieldPath::root().key("prices"), "options")?;
        let system_tokens = tools.counter.count(system)?;
        let simulate = |context: &Context| {
            Simulation::run(context, &policy, prices, system_tokens, tools.as_tools(), &environment)
        };
        Ok(reports::text(&self.shared().read(simulate)?)?)
    }
}

#[wasm_bindgen]
impl SessionHandle {
    /// As [`ContextHandle::take_step`], for the active context; the fork becomes active.
    #[wasm_bindgen(js_name = takeStep)]
    pub fn take_step(&self, text: &str, encoding: &JsValue) -> Result<Option<ContextHandle>, JsValue> {
        let (step, tools, environment) = (step(text)?, Tools::new(encoding)?, JsEnvironment::capture()?);
        let child = self.change(|session| session.fork_active(take_step(&step, &tools, &environment)))?;
        Ok(child.map(ContextHandle::from))
    }

    /// As [`ContextHandle::fit`], for the active context; the fork becomes active.
    pub fn fit(&self, text: &str, encoding: &JsValue) -> Result<Option<Array>, JsValue> {
        let (policy, tools, environment) = (policy(text)?, Tools::new(encoding)?, JsEnvironment::capture()?);
        let mut reports = Vec::new();
        let fit = |context: &mut Context| fit(context, &policy, &tools, &environment, &mut reports);
        let child = self.change(|session| session.fork_active(fit))?;
        pair(child.map(ContextHandle::from), &reports)
    }

    /// As [`ContextHandle::summarize`], for the active context; the fork becomes active. `undefined` without one.
    pub fn summarize(
        &self,
        range: JsValue,
        text: String,
        encoding: &JsValue,
    ) -> Result<Option<ContextHandle>, JsValue> {
        let (summary, counter, environment) = summary(range, text, encoding)?;
        let summarize = |context: &mut Context| {
            let edits = summary.edits(context, &counter, &environment)?;
            Ok(Some(edits.fork(context, &environment)))
        };
        let child = self.change(|session| session.fork_active(summarize))?;
        Ok(child.map(ContextHandle::from))
    }
}

fn fit(
    context: &mut Context,
    policy: &Policy,
    tools: &Tools,
    environment: &JsEnvironment,
    reports: &mut Vec<StepReport>,
) -> Result<Option<Context>, Error> {
    let mut fitted = policy.plan(context, tools.as_tools())?;
    reports.append(&mut fitted.reports);
    Ok(fitted.fork(context, environment))
}

fn pair(child: Option<ContextHandle>, steps: &[StepReport]) -> Result<Option<Array>, JsValue> {
    let Some(child) = child else { return Ok(None) };
    Ok(Some(Array::of2(&child.into(), &reports::text(&steps)?.into())))
}

fn summary(range: JsValue, text: String, encoding: &JsValue) -> Result<(Summary, Counter, JsEnvironment), JsValue> {
    Ok((Summary { range: summary_range(range)?, text }, encodings::counter(encoding)?, JsEnvironment::capture()?))
}

/// The id of the last message, or an array of ids.
fn summary_range(range: JsValue) -> Result<SummaryRange, Error> {
    match range.as_string() {
        Some(until) => Ok(SummaryRange::Until(until)),
        None => super::args::strings(&range)
            .map(SummaryRange::Ids)
            .ok_or_else(|| super::args::expected("options.ids", "an array of message ids", &range)),
    }
}
