//! Folders in the layout of Hugging Face data sets. This module finds the files that only describe a data set, and the
//! split and the configuration of each other file, by the naming rules of the library `datasets` (its `data_files.py`).
//!
//! A folder is a data set if its `README.md` begins with the metadata of a data set, between lines `---`, and if it
//! contains files of records.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The file that describes a data set.
pub(super) const CARD: &str = "README.md";

/// Other files that describe a data set.
const DESCRIBING: [&str; 5] =
    ["config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "dummy_data.zip"];

/// The columns for the split and the configuration.
const SPLIT: &str = "split";
const CONFIG: &str = "config";

/// The splits, each with the words that indicate it in names.
const WORDS: [(&str, &[&str]); 3] = [
    ("train", &["train", "training"]),
    ("validation", &["validation", "valid", "dev", "val"]),
    ("test", &["test", "testing", "eval", "evaluation"]),
];

/// The keys of metadata that only data sets have.
const KEYS: [&str; 9] = [
    "annotations_creators",
    "configs",
    "dataset_info",
    "language_creators",
    "multilinguality",
    "size_categories",
    "source_datasets",
    "task_categories",
    "task_ids",
];

/// The number of bytes of a README that are inspected.
pub(super) const HEAD_BYTES: usize = 1 << 20;

/// A column, and the value that the path of a file gives to it.
pub(super) type Label = (String, String);

/// The data sets among some files.
#[derive(Debug, Default)]
pub(super) struct Datasets {
    /// Their folders, and the configurations of the files in each.
    roots: HashMap<PathBuf, HashSet<String>>,
}

impl Datasets {
    /// Finds the data sets among files. Each file has a path, and true if it holds records. `is_card` inspects a
    /// README.
    pub(super) fn among<'a>(
        files: impl Iterator<Item = (&'a Path, bool)> + Clone,
        is_card: impl Fn(&Path) -> bool,
    ) -> Self {
        let mut found = Self::default();
        let cards: Vec<_> = files.clone().map(|(path, _)| path).filter(|path| path.ends_with(CARD)).collect();
        if cards.is_empty() {
            return found;
        }
        let with_records: HashSet<&Path> = files
            .clone()
            .filter(|(path, has_records)| *has_records && !is_describing(path))
            .flat_map(|(path, _)| path.ancestors().skip(1))
            .collect();
        for card in cards {
            let root = card.parent().unwrap_or(Path::new(""));
            if with_records.contains(root) && is_card(card) {
                found.roots.insert(root.to_owned(), HashSet::new());
            }
        }
        for (path, has_records) in files {
            if has_records && let Some((root, place)) = found.place_of(path) {
                let (root, config) = (root.to_owned(), place.config);
                found.roots.entry(root).or_default().insert(config);
            }
        }
        found
    }

    /// Returns true for a file that only describes a data set.
    pub(super) fn describes(&self, path: &Path) -> bool {
        is_describing(path) && self.root_of(path).is_some()
    }

    /// Returns the split of a file, if its name says one, and its configuration, if its data set has several.
    pub(super) fn labels(&self, path: &Path) -> Vec<Label> {
        let Some((root, place)) = self.place_of(path) else { return Vec::new() };
        let config =
            self.roots.get(root).filter(|configs| configs.len() > 1).map(|_| (CONFIG.to_owned(), place.config));
        place.split.map(|split| (SPLIT.to_owned(), split)).into_iter().chain(config).collect()
    }

    /// Returns the deepest folder of a data set that a file is in.
    fn root_of<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().skip(1).find(|folder| self.roots.contains_key(*folder))
    }

    fn place_of<'a>(&self, path: &'a Path) -> Option<(&'a Path, Place)> {
        let root = self.root_of(path).filter(|_| !is_describing(path))?;
        let below = path.strip_prefix(root).ok()?;
        Some((root, Place::of(&below.iter().filter_map(|part| part.to_str()).collect::<Vec<_>>())))
    }
}

fn is_describing(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == CARD || DESCRIBING.contains(&name)
}

/// The configuration and the split that the path of a file names.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    split: Option<String>,
    config: String,
}

impl Place {
    /// Reads a path below the folder of a data set.
    fn of(parts: &[&str]) -> Self {
        let (name, folders) = parts.split_last().map_or(("", parts), |(name, folders)| (*name, folders));
        let by_folder = folders.iter().rposition(|folder| word_in(folder).is_some());
        let (split, by_folder) = match (sharded(name), by_folder) {
            (Some(split), _) => (Some(split), None),
            (None, Some(at)) => (word_in(folders[at]), Some(at)),
            (None, None) => (word_in(name), None),
        };
        let config = folders.iter().enumerate().filter(|(at, folder)| Some(*at) != by_folder && **folder != "data");
        let config: Vec<_> = config.map(|(_, folder)| *folder).collect();
        Self {
            split: split.map(str::to_owned),
            config: if config.is_empty() { "default".to_owned() } else { config.join("/") },
        }
    }
}

/// Returns the split of a name such as `train-00000-of-00001.parquet`.
fn sharded(name: &str) -> Option<&str> {
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    let at = name.find("-of-")?;
    let split = name.get(..at.checked_sub(6)?)?;
    let is_sharded = name.get(split.len()..=split.len()) == Some("-")
        && name.get(split.len() + 1..at).is_some_and(is_number)
        && name.get(at + 4..at + 9).is_some_and(is_number)
        && name[at + 9..].contains('.');
    let is_name = !split.is_empty()
        && split.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_'));
    (is_sharded && is_name).then_some(split)
}

/// Returns the split that a word in a name indicates. Words are separated by punctuation, spaces or digits.
fn word_in(name: &str) -> Option<&'static str> {
    let parts = || name.split(|c: char| matches!(c, '-' | '.' | '_' | ' ') || c.is_ascii_digit());
    WORDS.iter().find(|(_, words)| parts().any(|part| words.contains(&part))).map(|(split, _)| *split)
}

/// Returns true if a README begins with the metadata of a data set.
pub(super) fn is_card(head: &str) -> bool {
    let mut lines = head.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return false;
    }
    let mut keys = lines.take_while(|line| line.trim_end() != "---").filter_map(|line| line.split_once(':'));
    keys.any(|(key, _)| KEYS.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_and_configurations_are_those_of_the_library_datasets() {
        for (path, split, config) in [
            ("data/train-00000-of-00002.parquet", Some("train"), "default"),
            ("data/test-00000-of-00001-abc0123.parquet", Some("test"), "default"),
            ("data/en.dev_small-00000-of-00001.jsonl.gz", Some("en.dev_small"), "default"),
            ("en/validation-00000-of-00001.parquet", Some("validation"), "en"),
            ("data/de/train-00000-of-00001.parquet", Some("train"), "de"),
            ("train-0-of-1.parquet", Some("train"), "default"),
            ("data/train.parquet", Some("train"), "default"),
            ("en.dev.jsonl", Some("validation"), "default"),
            ("my_test-file2.csv", Some("test"), "default"),
            ("default/train/0000.parquet", Some("train"), "default"),
            ("fr/partial-train/0000.parquet", Some("train"), "fr"),
            ("evaluation/part.csv", Some("test"), "default"),
            ("data/pretrain.csv", None, "default"),
            ("testfile.csv", None, "default"),
            ("data/part-00000.parquet", None, "default"),
            ("Train.csv", None, "default"),
        ] {
            let place = Place::of(&path.split('/').collect::<Vec<_>>());
            assert_eq!((place.split.as_deref(), place.config.as_str()), (split, config), "{path}");
        }
    }

    #[test]
    fn metadata_of_data_sets_is_told_from_other_front_matter() {
        assert!(is_card("---\r\nlicense: mit\r\ntask_categories:\r\n- text-generation\r\n---\r\n# Name"));
        assert!(is_card("---\nconfigs:\n- config_name: default\n---\n"));
        for other in [
            "# Name",
            "---\ntitle: A post\ntags: [x]\nlanguage: en\n---\nconfigs: x",
            "---\n  configs: x\n---",
            "",
            "---",
        ] {
            assert!(!is_card(other), "{other}");
        }
    }
}
