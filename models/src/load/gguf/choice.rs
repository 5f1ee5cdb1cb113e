//! [`choose`]: which of a repository's GGUF files a name means.

/// Finds the file among `files` that `wanted` names, by the file's whole name or by the format in its name (`Q8_0`, `q4_k_m`).
///
/// If several files have that format, the one with the shortest name is returned; `None` if there is none.
pub(crate) fn choose<'a>(files: impl Iterator<Item = &'a str>, wanted: &str) -> Option<&'a str> {
    let mut gguf: Vec<&str> = files
        .filter(|file| file.to_ascii_lowercase().ends_with(".gguf"))
        .collect();
    gguf.sort_by_key(|file| (file.len(), *file));
    if let Some(file) = gguf.iter().find(|file| **file == wanted) {
        return Some(file);
    }
    let wanted = wanted.to_ascii_lowercase();
    gguf.into_iter().find(|file| {
        let stem = file[..file.len() - ".gguf".len()].to_ascii_lowercase();
        // The format stands at the end, or before the number of a part; projectors of pictures are no models.
        let stem = stem.split("-00001-of-").next().unwrap_or_default();
        let name = stem.rsplit('/').next().unwrap_or_default();
        let before = name.strip_suffix(wanted.as_str());
        !name.starts_with("mmproj")
            && before.is_some_and(|before| before.is_empty() || before.ends_with(['-', '.', '_']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_names_mean_files() {
        let files = [
            "README.md",
            "mmproj-model-Q8_0.gguf",
            "Model-1B-Instruct-Q8_0.gguf",
            "Model-1B-Instruct-Q4_K_M.gguf",
            "Model-1B-Instruct-IQ4_K_M.gguf",
            "model.Q6_K.gguf",
            "BF16/model-BF16-00001-of-00002.gguf",
        ];
        let chosen = |wanted: &str| choose(files.into_iter(), wanted);
        assert_eq!(chosen("Q8_0"), Some("Model-1B-Instruct-Q8_0.gguf"));
        assert_eq!(chosen("q4_k_m"), Some("Model-1B-Instruct-Q4_K_M.gguf"));
        assert_eq!(chosen("Q6_K"), Some("model.Q6_K.gguf"));
        assert_eq!(chosen("bf16"), Some("BF16/model-BF16-00001-of-00002.gguf"));
        assert_eq!(chosen("mmproj-model-Q8_0.gguf"), Some("mmproj-model-Q8_0.gguf"));
        assert_eq!(chosen("Q5_K_M"), None);
        assert_eq!(chosen("README.md"), None);
    }
}
