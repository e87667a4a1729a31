//! Options by name, as SQL and other languages give them.

use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result};
use ibid_udfs::LanguageChoice;

use super::{Builder, Input, InputFormat};
use crate::corpus::{Boilerplate, OnError, encoding_of};
use crate::error::{Error, misuse};

/// An option by its name: its values as they are written, one or a list of them, or a collection.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) values: Vec<String>,
    pub(crate) input: Option<Input>,
}

impl Named {
    pub(crate) fn new(name: impl Into<String>, values: Vec<String>) -> Self {
        Self { name: name.into(), values, input: None }
    }
}

/// An option that is given by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) name: &'a str,
    pub(crate) values: &'a [String],
    pub(crate) input: Option<&'a Input>,
}

impl Given<'_> {
    fn one(&self) -> Result<&str> {
        match self.values {
            [one] => Ok(one),
            _ => Err(misuse!("`{}` is one value, not {}", self.name, self.values.len())),
        }
    }

    pub(super) fn text(&self) -> Result<String> {
        self.one().map(str::to_owned)
    }

    /// Reads a number.
    pub(super) fn number<T: FromStr>(&self) -> Result<T> {
        let text = self.one()?;
        text.parse().map_err(|_| misuse!("`{}` is a number, not {text}, or it is out of range", self.name))
    }

    pub(super) fn flag(&self) -> Result<bool> {
        match self.one()? {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(misuse!("{} is true or false, not {other}", self.name)),
        }
    }

    /// Reads the name of one of `choices`, and returns the choice.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        let text = self.one()?;
        let found = choices.iter().find(|(name, _)| *name == text);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            misuse!("`{}` is one of {}, not {text}", self.name, names.join(", "))
        })
    }

    /// Reads a value of a type whose errors say what is wrong.
    pub(super) fn parsed<T: FromStr>(&self) -> Result<T>
    where
        Error: From<T::Err>,
    {
        Ok(self.one()?.parse().map_err(Error::from)?)
    }

    /// Reads a size such as `16MiB` or `1000`.
    pub(super) fn bytes(&self) -> Result<usize> {
        bytes(self.one()?).with_context(|| format!("in `{}`", self.name))
    }

    /// Reads a duration such as `72h`, in seconds.
    pub(super) fn seconds(&self) -> Result<f64> {
        Ok(duration(self.one()?).with_context(|| format!("in `{}`", self.name))?.as_secs_f64())
    }
}

/// Reads a size such as `512MiB`, `4g` or `1000000`, in bytes.
///
/// ```
/// assert_eq!(ibid::bytes("512MiB")?, 512 << 20);
/// assert!(ibid::bytes("much").is_err());
/// # Ok::<(), ibid::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Options`] for text that is no size.
pub fn bytes(text: &str) -> Result<usize, Error> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        unit => return Err(misuse!("unknown unit '{unit}'; write a number and KiB, MiB, GiB or TiB").into()),
    };
    match digits.trim().parse::<usize>() {
        Ok(n) if n > 0 && n.leading_zeros() > shift => Ok(n << shift),
        _ => Err(misuse!("write a whole number and KiB, MiB, GiB or TiB, such as 512MiB").into()),
    }
}

/// Reads a duration such as `72h`.
pub fn duration(text: &str) -> Result<Duration> {
    humantime::parse_duration(text).map_err(|_| misuse!("write a number and its unit, such as 72h or 30days"))
}

/// A builder whose options can be given by name.
pub(crate) trait NamedOptions: Builder {
    /// The names of the options that not all methods have.
    const NAMES: &'static [&'static str];

    /// Options, each with another option without which it has no effect.
    const NEEDS: &'static [(&'static str, &'static str)] = &[];

    /// Returns the builder with options by their names and values.
    fn with_options(mut self, options: impl IntoIterator<Item = (String, Vec<String>)>) -> Result<Self>
    where
        Self: Sized,
    {
        let options: Vec<_> = options.into_iter().map(|(name, values)| Named::new(name, values)).collect();
        self.set_options(&options)?;
        Ok(self)
    }

    /// Sets options, by their names and values.
    fn set_options(&mut self, options: &[Named]) -> Result<()> {
        for Named { name, values, input } in options {
            self.set_option(Given { name, values, input: input.as_ref() })?;
        }
        let given =
            |name: &str| options.iter().find(|option| option.name == name).map(|option| option.values.as_slice());
        let quarantines = given("on_error").is_some_and(|values| values == ["quarantine"]);
        if quarantines != given("quarantine").is_some() {
            return Err(misuse!("`quarantine` and `on_error = quarantine` need each other"));
        }
        match Self::NEEDS.iter().find(|(option, other)| given(option).is_some() && given(other).is_none()) {
            Some((option, other)) => Err(misuse!("`{option}` needs `{other}`")),
            None => Ok(()),
        }
    }

    /// Sets an option of [`Self::NAMES`].
    fn set_own(&mut self, given: Given<'_>) -> Result<()>;

    /// Sets an option. Fails if there is none of this name.
    fn set_option(&mut self, given: Given<'_>) -> Result<()> {
        if Self::NAMES.contains(&given.name) {
            return self.set_own(given);
        }
        let base = self.shared();
        match given.name {
            "text_column" => base.reading.text_column = Some(given.text()?),
            "id_column" => base.reading.id_column = Some(given.text()?),
            "input_format" => base.reading.format = Some(format_of(given.one()?).context("in `input_format`")?),
            "on_error" => {
                let skips = given.choice(&[("fail", false), ("skip", true), ("quarantine", true)])?;
                base.reading.on_error = if skips { OnError::Skip } else { OnError::Fail };
            }
            "quarantine" => base.quarantine = Some(given.text()?.into()),
            "max_record_bytes" => base.reading.max_record_bytes = given.bytes()?,
            "max_ratio" => base.reading.max_ratio = given.number()?,
            "encoding" => base.reading.encoding = Some(encoding_of(given.one()?).context("in `encoding`")?),
            "delimiter" => base.reading.fields.delimiter = Some(sign_of(given.one()?).context("in `delimiter`")?),
            "sentence_language" => base.reading.sentence_language = LanguageChoice::of(given.one()?)?,
            "escape" => base.reading.fields.escape = Some(sign_of(given.one()?).context("in `escape`")?),
            "namespace" => {
                let numbers = given.values.iter().map(|text| text.parse());
                let numbers: Result<_, _> = numbers.collect();
                base.reading.pages.namespaces =
                    numbers.map_err(|_| misuse!("`namespace` is a whole number, or a list of them"))?;
            }
            "skip_redirects" => base.reading.pages.skip_redirects = given.flag()?,
            "boilerplate" => base.reading.boilerplate = given.choice(&Boilerplate::NAMES)?,
            "skip_disambiguation" => base.reading.pages.skip_disambiguation = given.flag()?,
            name => {
                let known: Vec<_> = Self::NAMES.iter().chain(&OF_ALL).copied().collect();
                return Err(misuse!("there is no parameter {name}. {}", did_you_mean(name, &known)));
            }
        }
        Ok(())
    }
}

/// The options of all methods that read.
pub(super) const OF_ALL: [&str; 15] = [
    "text_column",
    "id_column",
    "input_format",
    "on_error",
    "quarantine",
    "max_record_bytes",
    "max_ratio",
    "encoding",
    "delimiter",
    "escape",
    "sentence_language",
    "namespace",
    "skip_redirects",
    "skip_disambiguation",
    "boilerplate",
];

/// Reads the name of a format of input.
pub fn format_of(name: &str) -> Result<InputFormat> {
    InputFormat::from_name(name).ok_or_else(|| {
        misuse!("known formats are text, lines, html, markdown, jsonl, csv, tsv, parquet, mediawiki, tei and warc")
    })
}

/// Reads a delimiter or escape character of CSV: one of ASCII, or `tab`.
pub fn sign_of(name: &str) -> Result<u8> {
    match name.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [sign] if sign.is_ascii() && !matches!(sign, b'\n' | b'\r' | b'"') => Ok(*sign),
        _ => Err(misuse!("{name:?} is no single ASCII character, such as ';', '|' or tab")),
    }
}

/// Returns a hint on an unknown name: the known name that is most like it, or all of them.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|known| (strsim::jaro_winkler(name, known), *known));
    match nearest.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((similarity, nearest)) if similarity > 0.8 => format!("Did you mean {nearest}?"),
        _ => format!("There are {}", known.join(", ")),
    }
}

/// Returns the collection of an option: the given one, or the places that its values name. Fails for standard input.
pub(crate) fn input_of(given: Given<'_>) -> Result<Input> {
    if let Some(input) = given.input {
        return Ok(input.clone());
    }
    if given.values.iter().any(|place| place == "-") {
        return Err(misuse!("standard input cannot be read here; name a file"));
    }
    Ok(Input::places(given.values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512MiB").unwrap(), 512 << 20);
        assert_eq!(bytes("4g").unwrap(), 4 << 30);
        assert_eq!(bytes("1000").unwrap(), 1000);
        for wrong in ["", "MiB", "0", "1.5GiB", "99999999TiB", "3 elephants", "-1"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
