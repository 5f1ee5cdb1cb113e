//! [`ServerSettings`]: a server as the command line names it, `NAME=URL,model=MODEL,KEY=VALUE,…`.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ureq::http::Uri;

use super::dialect::Dialect;
use super::usage::Prices;
use crate::frameworks::LM_ONLY;
use crate::report::paper::PaperRow;

/// Host of OpenAI's interface.
const OPENAI: &str = "api.openai.com";
/// Host of Gemini's interfaces.
const GOOGLE: &str = "generativelanguage.googleapis.com";

/// Settings of a server: address, model, dialect, limits and prices.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// Name in records and tables.
    pub name: String,
    /// Address below which the server's endpoints are, without a slash at its end.
    pub url: String,
    /// Further addresses at which the same model answers, for more requests at a time.
    pub replicas: Vec<String>,
    /// The model to ask for.
    pub model: String,
    /// Dialect of the server.
    pub dialect: Dialect,
    /// Whether schemas are sent along; without, the model is alone with the prompt.
    pub constrained: bool,
    /// OpenAI's `strict`: the schema is enforced, and refused where it cannot be.
    pub strict: bool,
    /// The environment variable with the key, where one was named.
    pub key_env: Option<String>,
    /// Whether the temperature is sent; some models refuse any.
    pub send_temperature: bool,
    /// Further members of every request.
    pub body: Map<String, Value>,
    /// Longest time to connect.
    pub connect: Duration,
    /// Longest time to the first byte of an answer, where it is shorter than that of the whole.
    pub first_byte: Option<Duration>,
    /// Repetitions of a request that failed in passing.
    pub retries: u32,
    /// Pause before the first repetition; it doubles with each.
    pub pause: Duration,
    /// Requests per minute, at most.
    pub requests_per_minute: Option<u32>,
    /// Tokens per minute, at most, those of prompts included.
    pub tokens_per_minute: Option<u64>,
    /// Prices of tokens.
    pub prices: Option<Prices>,
}

/// Recorded settings of a server, which two runs must have in common to measure the same thing. They leave out the address, so that a run can go on
/// after its server has moved, and the name of the key's variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerSettingsSummary {
    /// Name in records and tables.
    pub name: String,
    /// The model asked for.
    pub model: String,
    /// Dialect of the server.
    pub dialect: Dialect,
    /// Whether schemas are sent along.
    pub constrained: bool,
    /// OpenAI's `strict`.
    pub strict: bool,
    /// Whether the temperature is sent.
    pub send_temperature: bool,
    /// Further members of every request.
    #[serde(default)]
    pub body: Map<String, Value>,
    /// Requests in flight, on which times depend.
    pub concurrency: u16,
}

/// Longest limit or pause: a year, which no clock overflows by.
const LONGEST_TIME: Duration = Duration::from_secs(365 * 86_400);

impl ServerSettings {
    /// Every key that may follow the address, for messages.
    const KEYS: &[&str] = &[
        "model",
        "replicas",
        "dialect",
        "constrained",
        "strict",
        "key-env",
        "temperature",
        "body",
        "connect",
        "first-byte",
        "retries",
        "pause",
        "rpm",
        "tpm",
        "price-in",
        "price-out",
    ];

    /// Settings with defaults for everything but name, address, model and dialect.
    pub fn new(name: &str, url: &str, model: &str, dialect: Dialect) -> Self {
        Self {
            name: name.to_owned(),
            url: url.trim_end_matches('/').to_owned(),
            replicas: Vec::new(),
            model: model.to_owned(),
            dialect,
            constrained: true,
            strict: true,
            key_env: None,
            send_temperature: true,
            body: Map::new(),
            connect: Duration::from_secs(10),
            first_byte: None,
            retries: 5,
            pause: Duration::from_secs(1),
            requests_per_minute: None,
            tokens_per_minute: None,
            prices: None,
        }
    }

    /// Returns the recorded settings for a run with `concurrency` requests in flight.
    pub fn summary(&self, concurrency: u16) -> ServerSettingsSummary {
        ServerSettingsSummary {
            name: self.name.clone(),
            model: self.model.clone(),
            dialect: self.dialect,
            constrained: self.constrained,
            strict: self.strict,
            send_temperature: self.send_temperature,
            body: self.body.clone(),
            concurrency,
        }
    }

    /// Name of the environment variable that the key is taken from: the one that was named, or, for the two public
    /// interfaces only, their usual one. A key is never sent to a server that its owner has not named it for.
    pub fn key_variable(&self) -> Option<&str> {
        match (&self.key_env, self.host().as_deref()) {
            (Some(name), _) => Some(name),
            (None, Some(OPENAI)) => Some("OPENAI_API_KEY"),
            (None, Some(GOOGLE)) => Some("GEMINI_API_KEY"),
            (None, _) => None,
        }
    }

    /// The row that the JSONSchemaBench paper has for such a server: the providers' own only at their addresses.
    pub fn paper_row(&self) -> Option<PaperRow> {
        match (self.dialect, self.host().as_deref()) {
            _ if !self.constrained => None,
            (_, Some(OPENAI)) => Some(PaperRow::OpenAI),
            (_, Some(GOOGLE)) => Some(PaperRow::Gemini),
            (Dialect::LlamaServer, _) => Some(PaperRow::Llamacpp),
            _ => None,
        }
    }

    /// All addresses, the first of which is the server's own.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        [&self.url].into_iter().chain(&self.replicas).map(String::as_str)
    }

    /// The host that all addresses have; none where they differ.
    fn host(&self) -> Option<String> {
        let host = |address: &str| address.parse::<Uri>().ok()?.host().map(str::to_ascii_lowercase);
        let own = host(&self.url)?;
        self.addresses()
            .all(|address| host(address).as_ref() == Some(&own))
            .then_some(own)
    }

    /// Whether requests to any address are sent without encryption over a network, so that others could read them on their way.
    pub fn is_in_clear(&self) -> bool {
        self.addresses().any(|address| {
            let Ok(uri) = address.parse::<Uri>() else { return true };
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
            let loopback = host == "localhost"
                || host
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback());
            uri.scheme_str() != Some("https") && !loopback
        })
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "model" => value.clone_into(&mut self.model),
            "replicas" => {
                for address in value.split('+') {
                    check_url(address)?;
                    self.replicas.push(address.trim_end_matches('/').to_owned());
                }
            }
            "dialect" => self.dialect = value.parse()?,
            "constrained" => self.constrained = boolean(value)?,
            "strict" => self.strict = boolean(value)?,
            "key-env" => self.key_env = Some(value.to_owned()),
            "temperature" => {
                self.send_temperature = match value {
                    "send" => true,
                    "omit" => false,
                    _ => return Err("must be `send` or `omit`".to_owned()),
                }
            }
            "body" => self.body = read_body(Path::new(value))?,
            "connect" => self.connect = duration(value)?,
            "first-byte" => self.first_byte = Some(duration(value)?),
            "retries" => self.retries = value.parse().map_err(|_| "must be a whole number")?,
            "pause" => self.pause = duration(value)?,
            "rpm" => self.requests_per_minute = Some(positive(value)?),
            "tpm" => self.tokens_per_minute = Some(positive(value)?),
            "price-in" => self.prices_mut().input = price(value)?,
            "price-out" => self.prices_mut().output = price(value)?,
            _ => {
                return Err(format!(
                    "is not a setting of servers; known are {}",
                    Self::KEYS.join(", ")
                ));
            }
        }
        Ok(())
    }

    fn prices_mut(&mut self) -> &mut Prices {
        self.prices.get_or_insert(Prices {
            input: 0.0,
            output: 0.0,
        })
    }
}

impl FromStr for ServerSettings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let (name, url) = parts
            .next()
            .and_then(|first| first.split_once('='))
            .ok_or("expected NAME=URL,model=MODEL,…")?;
        if name.is_empty() || name == LM_ONLY {
            return Err(format!("{name:?} cannot be a server's name"));
        }
        check_url(url)?;
        let mut settings = Self::new(name, url, "", Dialect::OpenAi);
        for part in parts.filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("{part:?}: expected KEY=VALUE"))?;
            settings
                .set(key, value)
                .map_err(|problem| format!("{key}={value}: {problem}"))?;
        }
        if settings.model.is_empty() {
            return Err("the model is missing: add ,model=MODEL".to_owned());
        }
        Ok(settings)
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let uri = url.parse::<Uri>().ok().filter(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    let uri = uri.ok_or_else(|| format!("{url:?} is not an address that starts with http:// or https://"))?;
    // Addresses are printed; what is secret goes into the environment.
    match uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'))
        || uri.query().is_some()
    {
        true => Err(
            "an address may hold neither a user name nor a query: keys are taken from the environment, key-env=NAME"
                .to_owned(),
        ),
        false => Ok(()),
    }
}

fn read_body(path: &Path) -> Result<Map<String, Value>, String> {
    let path: PathBuf = path.to_owned();
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err("the file does not hold a JSON object".to_owned()),
        Err(error) => Err(format!("the file is not JSON: {error}")),
    }
}

fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be `true` or `false`".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "must be a number of seconds")?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration > Duration::ZERO && duration <= LONGEST_TIME => Ok(duration),
        _ => Err(format!(
            "must be a number of seconds above 0, up to {}",
            LONGEST_TIME.as_secs()
        )),
    }
}

fn positive<T: FromStr + Default + PartialOrd>(text: &str) -> Result<T, String> {
    let value = text.parse::<T>().ok().filter(|value| *value > T::default());
    value.ok_or_else(|| "must be a whole number above 0".to_owned())
}

fn price(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "must be a price per million tokens")?;
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err("must be 0 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_read_from_one_argument() {
        let text = "v=http://h:8000/v1/,model=Qwen/Qwen3-0.6B,dialect=vllm,strict=false,retries=2,rpm=60,price-in=0.15,temperature=omit";
        let settings: ServerSettings = text.parse().unwrap();
        let mut expected = ServerSettings::new("v", "http://h:8000/v1", "Qwen/Qwen3-0.6B", Dialect::Vllm);
        expected.strict = false;
        expected.retries = 2;
        expected.requests_per_minute = Some(60);
        expected.send_temperature = false;
        expected.prices = Some(Prices {
            input: 0.15,
            output: 0.0,
        });
        assert_eq!(settings, expected);
    }

    #[test]
    fn replicas_are_further_addresses() {
        let text = "v=http://a:1/v1,model=m,replicas=http://b:1/v1/+http://c:1/v1,replicas=https://d/v1";
        let settings: ServerSettings = text.parse().unwrap();
        let addresses: Vec<&str> = settings.addresses().collect();
        assert_eq!(
            addresses,
            ["http://a:1/v1", "http://b:1/v1", "http://c:1/v1", "https://d/v1"]
        );
        assert!(settings.is_in_clear());
        // A key that nobody named goes to the provider's own address alone.
        let alone: ServerSettings = "o=https://api.openai.com/v1,model=m".parse().unwrap();
        assert_eq!(alone.key_variable(), Some("OPENAI_API_KEY"));
        let beside: ServerSettings = "o=https://api.openai.com/v1,model=m,replicas=https://other/v1"
            .parse()
            .unwrap();
        assert_eq!(beside.key_variable(), None);
        assert!("v=http://a/v1,model=m,replicas=b".parse::<ServerSettings>().is_err());
    }

    #[test]
    fn what_is_wrong_with_an_argument_is_said() {
        for (text, said) in [
            ("http://h/v1", "NAME=URL"),
            ("v=h/v1,model=m", "http://"),
            ("v=ftp://h/v1,model=m", "http://"),
            ("v=http://user:pass@h/v1,model=m", "key-env"),
            ("v=https://h/v1?key=abc,model=m", "key-env"),
            ("none=http://h/v1,model=m", "cannot be a server's name"),
            ("v=http://h/v1", "model=MODEL"),
            ("v=http://h/v1,model=m,dialect=latin", "llama-server"),
            ("v=http://h/v1,model=m,colour=red", "price-out"),
            ("v=http://h/v1,model=m,first-byte=0", "above 0"),
            ("v=http://h/v1,model=m,connect=1e19", "31536000"),
            ("v=http://h/v1,model=m,rpm=0", "above 0"),
            ("v=http://h/v1,model=m,price-out=-1", "0 or more"),
            ("v=http://h/v1,model=m,body=/does/not/exist", "body="),
        ] {
            let problem = text.parse::<ServerSettings>().unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
    }

    #[test]
    fn keys_go_only_where_their_owner_sends_them() {
        let variable = |text: &str| {
            text.parse::<ServerSettings>()
                .unwrap()
                .key_variable()
                .map(str::to_owned)
        };
        assert_eq!(
            variable("o=https://api.openai.com/v1,model=m").as_deref(),
            Some("OPENAI_API_KEY")
        );
        assert_eq!(variable("o=https://api.openai.com.evil.example/v1,model=m"), None);
        assert_eq!(
            variable("o=https://evil.example/v1,model=m,key-env=MINE").as_deref(),
            Some("MINE")
        );
        let paper = |text: &str| text.parse::<ServerSettings>().unwrap().paper_row();
        assert_eq!(paper("o=https://api.openai.com/v1,model=m"), Some(PaperRow::OpenAI));
        assert_eq!(paper("o=https://api.openai.com/v1,model=m,constrained=false"), None);
        assert_eq!(paper("o=http://localhost:8000/v1,model=m"), None);
        let clear = |text: &str| text.parse::<ServerSettings>().unwrap().is_in_clear();
        assert!(clear("o=http://10.0.0.1/v1,model=m") && !clear("o=https://h/v1,model=m"));
        assert!(!clear("o=http://127.0.0.1:1/v1,model=m") && !clear("o=http://[::1]:1/v1,model=m"));
    }
}
