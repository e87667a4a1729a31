//! Signatures as `NAME:PARAMS`, which name a statement of `queries/signatures` and its parameters.

use std::borrow::Cow;
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::error::{Error, misuse};
use crate::pipeline::query::{self, Literal, Parameters, Query};

/// A signature that can be chosen: its name, its statement, and its parameters with their defaults.
struct Known {
    name: &'static str,
    query: Query,
    parameters: &'static [(&'static str, f64)],
}

const KNOWN: [Known; 11] = [
    Known { name: "shingles", query: query::SIGNATURES_SHINGLES, parameters: &[("n", 3.0)] },
    Known {
        name: "sampled_shingles",
        query: query::SIGNATURES_SAMPLED_SHINGLES,
        parameters: &[("n", 4.0), ("step", 3.0)],
    },
    Known { name: "characters", query: query::SIGNATURES_CHARACTERS, parameters: &[("n", 5.0)] },
    Known { name: "lines", query: query::SIGNATURES_LINES, parameters: &[] },
    Known { name: "subwords", query: query::SIGNATURES_SUBWORDS, parameters: &[("n", 4.0)] },
    Known { name: "i_match", query: query::SIGNATURES_I_MATCH, parameters: &[("low", 0.1), ("high", 1.0)] },
    Known {
        name: "i_match_ranked",
        query: query::SIGNATURES_I_MATCH_RANKED,
        parameters: &[("skip", 2.0), ("take", 10.0)],
    },
    Known {
        name: "spot_sigs",
        query: query::SIGNATURES_SPOT_SIGS,
        parameters: &[("k", 100.0), ("distance", 2.0), ("chain", 3.0)],
    },
    Known { name: "winnow", query: query::SIGNATURES_WINNOW, parameters: &[("k", 3.0), ("w", 3.0)] },
    Known {
        name: "weighted_shingles",
        query: query::SIGNATURES_WEIGHTED_SHINGLES,
        parameters: &[("n", 1.0), ("levels", 8.0)],
    },
    Known {
        name: "weighted_subwords",
        query: query::SIGNATURES_WEIGHTED_SUBWORDS,
        parameters: &[("n", 4.0), ("levels", 8.0)],
    },
];

/// The parameters that are shares, and the largest value of all others, which are whole numbers.
const SHARES: [&str; 2] = ["low", "high"];
const MOST: f64 = 1e9;

/// The way in which a text becomes a set.
///
/// It is read from `NAME:PARAMS`, such as `shingles:4` or `spot_sigs:k=60`; parameters that are left out have their defaults.
///
/// ```
/// let signature: ibid::Signature = "shingles:4".parse()?;
/// let error = "shingle:4".parse::<ibid::Signature>().unwrap_err();
/// assert!(error.to_string().contains("did you mean shingles?"));
/// # Ok::<(), ibid::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Signature {
    pub(crate) query: Query,
    values: Cow<'static, [(&'static str, f64)]>,
}

impl Signature {
    /// Returns the text from which the signature is read.
    pub(super) fn spec(&self) -> String {
        let name = KNOWN.iter().find(|known| known.query == self.query).map_or("", |known| known.name);
        let values: Vec<_> = self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { name.to_owned() } else { format!("{name}:{}", values.join(",")) }
    }

    pub(super) const SHINGLES_1: Self = Self::shingles(&[("n", 1.0)]);
    pub(super) const SHINGLES_3: Self = Self::shingles(&[("n", 3.0)]);
    pub(super) const SHINGLES_4: Self = Self::shingles(&[("n", 4.0)]);
    pub(super) const SHINGLES_5: Self = Self::shingles(&[("n", 5.0)]);
    pub(super) const CHARACTERS_10: Self =
        Self { query: query::SIGNATURES_CHARACTERS, values: Cow::Borrowed(&[("n", 10.0)]) };

    const fn shingles(values: &'static [(&'static str, f64)]) -> Self {
        Self { query: query::SIGNATURES_SHINGLES, values: Cow::Borrowed(values) }
    }

    /// Returns the names of all signatures, with the defaults of their parameters.
    #[must_use]
    pub fn help() -> String {
        let one = |known: &Known| {
            let parameters: Vec<_> = known.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let separator = if parameters.is_empty() { "" } else { ":" };
            format!("{}{separator}{}", known.name, parameters.join(","))
        };
        KNOWN.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Returns the number of words that each element is made of, or 1 if elements are not runs of words. A text of fewer
    /// words has one element, which no longer text has.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 1 to 1e9")]
    pub(super) fn words_of_element(&self) -> u32 {
        let of_runs =
            [query::SIGNATURES_SHINGLES, query::SIGNATURES_SAMPLED_SHINGLES, query::SIGNATURES_WEIGHTED_SHINGLES];
        let n = self.values.iter().find(|(name, _)| *name == "n" && of_runs.contains(&self.query));
        n.map_or(1, |(_, n)| *n as u32)
    }

    pub(crate) fn set(&self, parameters: &mut Parameters) {
        for (name, value) in self.values.iter() {
            parameters.set(name, Literal::of_text(&value.to_string()));
        }
    }
}

impl FromStr for Signature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).map_err(|error| misuse!("{error}").into())
    }
}

impl Signature {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            let nearest = KNOWN
                .iter()
                .map(|known| known.name)
                .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
            bail!("unknown signature '{name}', did you mean {}? There are {}", nearest.unwrap_or(""), Self::help());
        };
        let given: Vec<&str> = if given.is_empty() { Vec::new() } else { given.split(',').collect() };
        if given.len() > known.parameters.len() {
            bail!("{name} has {} parameters, got {}; write {}", known.parameters.len(), given.len(), Self::help());
        }
        let mut values = known.parameters.to_vec();
        for (place, text) in given.into_iter().enumerate() {
            // A parameter is given by its name, or by its place.
            let (named, number) = match text.split_once('=') {
                Some((parameter, number)) => (values.iter_mut().find(|(known, _)| *known == parameter.trim()), number),
                None => (values.get_mut(place), text),
            };
            let Some((parameter, value)) = named else {
                bail!("{name} has no parameter '{text}'; write {}", Self::help());
            };
            match number.trim().parse::<f64>() {
                Ok(number) if SHARES.contains(parameter) && number.is_finite() => *value = number,
                Ok(number) if (0.0..=MOST).contains(&number) && number.fract() == 0.0 => *value = number,
                _ => {
                    let kind = if SHARES.contains(parameter) { "number" } else { "whole number" };
                    bail!("the parameter {parameter} of {name} is a {kind}, got '{number}'")
                }
            }
        }
        Ok(Self { query: known.query, values: values.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str, sql: &str) -> String {
        let mut parameters = Parameters::default();
        text.parse::<Signature>().unwrap().set(&mut parameters);
        parameters.bind(sql).unwrap()
    }

    #[test]
    fn parameters_have_defaults() {
        assert_eq!(bound("shingles", "$n"), "3");
        assert_eq!(bound("i_match:0.2", "$low $high"), "0.2 1");
        assert_eq!(bound("spot_sigs:60,1", "$k $distance $chain"), "60 1 3");
        assert_eq!(bound("sampled_shingles:5", "$n $step"), "5 3");
        assert_eq!(
            bound("spot_sigs:chain=1,k=60", "$k $distance $chain"),
            bound("spot_sigs:60,2,1", "$k $distance $chain")
        );
    }

    #[test]
    fn what_help_says_is_understood() {
        for signature in Signature::help().split(", ") {
            let name = signature.split(':').next().unwrap();
            let given = signature.parse::<Signature>().unwrap();
            assert_eq!(given.values, name.parse::<Signature>().unwrap().values, "{signature}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        let error = |text: &str| text.parse::<Signature>().unwrap_err().to_string();
        assert!(error("shingle:3").contains("did you mean shingles?"));
        assert!(error("shingles:3,4").contains("1 parameters"));
        for wrong in ["three", "1.9", "-1", "1e20"] {
            assert!(error(&format!("shingles:{wrong}")).contains("n of shingles is a whole number"), "{wrong}");
        }
        assert!(error("i_match:low").contains("low of i_match is a number"));
        assert!(error("shingles:m=3").contains("no parameter 'm=3'; write "));
    }
}
