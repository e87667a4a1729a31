//! What the shell remembers from one session to the next, and what it must not.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// How many statements are remembered.
pub(super) const LONGEST: usize = 10_000;

/// The file of the history, in a folder that is there then; nobody else may read either.
pub(super) fn file() -> Result<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(state) => state,
        None => std::env::home_dir().context("there is no home folder")?.join(".local/state"),
    };
    let folder = state.join("ibid");
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join("history");
    #[cfg(unix)]
    if file.exists() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, mode)
            .with_context(|| format!("cannot keep {} to its owner", file.display()))?;
    }
    Ok(file)
}

/// What names the value of a setting or option as a secret.
const SECRET_NAMES: [&str; 9] =
    ["secret", "token", "password", "passwd", "credential", "sas", "access_key", "account_key", "api_key"];

/// What gives away a secret wherever it stands.
const SECRETS: [&str; 9] = [
    "secret_access_key",
    "session_token",
    "account_key",
    "client_secret",
    "x-amz-signature",
    "x-amz-security-token",
    "x-goog-signature",
    "?sig=",
    "&sig=",
];

/// Whether a statement or command has, or may have, a secret in it. It need not be one that can run.
pub(super) fn has_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    if SECRETS.iter().any(|secret| text.contains(secret)) || has_password_in_url(&text) {
        return true;
    }
    let sets = text.contains("options") || ["set", "alter", "\\set"].contains(&first_word(&text));
    sets && SECRET_NAMES.iter().any(|name| text.contains(name))
}

/// The first word of a statement behind comments.
fn first_word(text: &str) -> &str {
    let statement = super::script::Pieces::of(text).next();
    let begin = statement.and_then(Result::ok).map_or(text.trim_start(), |piece| piece.text);
    begin.split(char::is_whitespace).next().unwrap_or_default()
}

/// Whether there is a URL such as `https://user:password@host`.
fn has_password_in_url(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let end = rest.find(|c: char| c == '/' || c.is_whitespace() || c == '\'').unwrap_or(rest.len());
        rest[..end].rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known() {
        for secret in [
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://b/t' OPTIONS ('aws.secret_access_key' 'x')",
            "create external table t stored as csv location 'az://b/t' options (sas_key 'x')",
            "/* a; comment */ SET aws.token = 'x';",
            "\\set password x",
            "SELECT * FROM 'https://user:pass@example.org/x.csv'",
            "SELECT * FROM 'https://h/x.csv?X-Amz-Signature=1'",
            "SELECT * FROM 'https://h/x.csv?sv=1&sig=1'",
            "SELEC 'AWS_SECRET_ACCESS_KEY=x",
        ] {
            assert!(has_secret(secret), "{secret}");
        }
        for plain in [
            "SELECT tokens, sas FROM 'x.csv' WHERE password IS NULL",
            "SELECT * FROM 'https://example.org/a@b:c'",
            "SET ibid.gpu = on",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'x.csv' OPTIONS ('format.has_header' 'true')",
        ] {
            assert!(!has_secret(plain), "{plain}");
        }
    }
}
