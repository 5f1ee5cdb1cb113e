//! The arguments that name servers and limit requests and cost.

use std::sync::Arc;

use clap::Args;
use maskwright_models::SamplingOptions;

use crate::error::CommandError;
use crate::run::progress;
use crate::server::{Client, ServerSettings, ServerSettingsSummary};

/// Servers, and the limits on requests and cost.
#[derive(Debug, Args)]
pub struct ServerArguments {
    /// A server to compare, NAME=URL,model=MODEL and further KEY=VALUE; may be repeated
    ///
    /// URL is the address up to and with /v1, as clients of OpenAI take it; for dialect=gemini up to and with /v1beta.
    /// Keys: model (required); replicas: further addresses of the same model, with `+` between them, over which requests are
    /// spread; dialect: openai (default), vllm (0.12 and newer), vllm-guided (older), sglang,
    /// llama-server, gemini-openai, gemini; constrained=false: the model without the schema as a constraint;
    /// strict=false: OpenAI's `strict`; key-env: the environment variable with the key (OPENAI_API_KEY and GEMINI_API_KEY
    /// are taken for the addresses of OpenAI and Google by themselves); temperature=omit for models that take none;
    /// body: a file with a JSON object that is merged into every request; connect, first-byte: seconds; retries (5) and
    /// pause (1 s, doubling) after failures in passing; rpm, tpm: requests and tokens per minute; price-in, price-out: per
    /// million tokens.
    #[arg(long = "server", value_name = "NAME=URL,model=MODEL,…")]
    pub servers: Vec<ServerSettings>,
    /// Requests in flight at each server, and at each of its replicas
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub concurrency: u16,
    /// Ask no more once the answers on record cost this much, by the servers' price-in and price-out
    #[arg(long, value_name = "AMOUNT")]
    pub max_cost: Option<f64>,
}

impl ServerArguments {
    /// Returns the recorded settings of the servers.
    pub fn summaries(&self) -> Vec<ServerSettingsSummary> {
        let servers = self.servers.iter();
        servers.map(|server| server.summary(self.concurrency)).collect()
    }

    /// Returns the same servers, to none of which a schema is sent, so that those count that take none.
    pub fn without_schemas(&self) -> Self {
        let servers = self.servers.iter().cloned();
        Self {
            servers: servers
                .map(|server| ServerSettings {
                    constrained: false,
                    ..server
                })
                .collect(),
            ..*self
        }
    }

    /// Returns a client for each server, with its key.
    ///
    /// # Errors
    ///
    /// [`CommandError::Arguments`], where servers, frameworks (`others`) and options do not go together, and
    /// [`CommandError::Server`], where a key is missing.
    pub fn clients(&self, others: &[String], sampling: &SamplingOptions) -> Result<Vec<Arc<Client>>, CommandError> {
        let wrong = |problem: String| Err(CommandError::Arguments(problem));
        if self.max_cost.is_some_and(|cost| cost.is_nan() || cost < 0.0) {
            return wrong("--max-cost must be 0 or more".to_owned());
        }
        if self.max_cost.is_some() && self.servers.iter().all(|server| server.prices.is_none()) {
            return wrong("--max-cost needs the prices of a server: add price-in and price-out to --server".to_owned());
        }
        for (number, server) in self.servers.iter().enumerate() {
            let name = &server.name;
            if others.contains(name) || self.servers[..number].iter().any(|other| other.name == *name) {
                return wrong(format!(
                    "there are two rows called {name:?}: give the server another name"
                ));
            }
            if let Some(option) = server.dialect.missing_option(sampling) {
                return wrong(format!(
                    "server {name}: requests of dialect {} have no {option}",
                    server.dialect
                ));
            }
        }
        let servers = self.servers.iter();
        servers.map(client).collect()
    }
}

/// Returns a client for a server, with its key. Warns the user where the key is sent without encryption.
///
/// # Errors
///
/// [`CommandError::Server`], where the key is missing.
pub fn client(settings: &ServerSettings) -> Result<Arc<Client>, CommandError> {
    let client =
        Client::from_environment(settings.clone()).map_err(|message| CommandError::server(settings, message))?;
    if client.has_key() && settings.is_in_clear() {
        progress::say(&format!(
            "server {}: its key travels unencrypted: {}",
            settings.name,
            settings.addresses().collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(Arc::new(client))
}
