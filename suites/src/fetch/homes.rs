//! [`Homes`]: addresses of the public homes, and the tokens for them.

/// Addresses of GitHub and the Hugging Face hub, and the access tokens for them.
#[derive(Clone, PartialEq, Eq)]
pub struct Homes {
    /// GitHub's interface, without a slash at the end, as all of these.
    pub github_api: String,
    /// GitHub's archives.
    pub github_archives: String,
    /// GitHub's files.
    pub github_raw: String,
    /// The Hugging Face hub.
    pub hub: String,
    /// Token for GitHub's interface; raises its limit on requests. Sent nowhere else.
    pub github_token: Option<String>,
    /// Token for the hub. Sent nowhere else.
    pub hub_token: Option<String>,
}

impl Default for Homes {
    /// The public addresses, without tokens.
    fn default() -> Self {
        Self {
            github_api: "https://api.github.com".to_owned(),
            github_archives: "https://codeload.github.com".to_owned(),
            github_raw: "https://raw.githubusercontent.com".to_owned(),
            hub: "https://huggingface.co".to_owned(),
            github_token: None,
            hub_token: None,
        }
    }
}

impl Homes {
    /// The public addresses, or those that `MASKWRIGHT_GITHUB_API`, `MASKWRIGHT_GITHUB_ARCHIVES`,
    /// `MASKWRIGHT_GITHUB_RAW` and `HF_ENDPOINT` give; tokens from `GITHUB_TOKEN` and `HF_TOKEN`.
    pub fn from_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let address = |name: &str, default: String| {
            variable(name).map_or(default, |address| address.trim().trim_end_matches('/').to_owned())
        };
        let token = |name: &str| variable(name).map(|token| token.trim().to_owned());
        let public = Self::default();
        Self {
            github_api: address("MASKWRIGHT_GITHUB_API", public.github_api),
            github_archives: address("MASKWRIGHT_GITHUB_ARCHIVES", public.github_archives),
            github_raw: address("MASKWRIGHT_GITHUB_RAW", public.github_raw),
            hub: address("HF_ENDPOINT", public.hub),
            github_token: token("GITHUB_TOKEN"),
            hub_token: token("HF_TOKEN"),
        }
    }
}

impl std::fmt::Debug for Homes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hidden = |token: &Option<String>| token.as_ref().map(|_| "…");
        f.debug_struct("Homes")
            .field("github_api", &self.github_api)
            .field("github_archives", &self.github_archives)
            .field("github_raw", &self.github_raw)
            .field("hub", &self.hub)
            .field("github_token", &hidden(&self.github_token))
            .field("hub_token", &hidden(&self.hub_token))
            .finish()
    }
}

/// Text as part of an address: everything but unreserved characters and those in `kept` is percent-encoded.
pub(super) fn encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_kept = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || kept.as_bytes().contains(&byte);
        match is_kept {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
