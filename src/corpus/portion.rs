//! Portions of the input files, each of which another machine reads.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use encoding_rs::Encoding;
use ibid_udfs::LanguageChoice;
use prost::Message;

use super::paths::{Fields, InputFile, Selection};
use super::{Boilerplate, Documents, Format, OnError, Options, PageFilter, open_selection};
use crate::records::Compression;
use crate::store::{Object, ObjectMessage, Stores};

/// The target size of a portion, in bytes of its files.
const BYTES: u64 = 256 << 20;

/// The bytes added to the size of each file, for a request and for its names in the plan.
const OF_FILE: u64 = 4 << 10;

/// The maximum number of portions: each becomes two files, which every reader of the corpus opens.
const MOST: usize = 1000;

/// Some of the files of a corpus, and how they are read.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub(crate) struct Portion {
    #[prost(message, repeated, tag = "1")]
    files: Vec<FileMessage>,
    #[prost(message, optional, tag = "2")]
    reading: Option<ReadingMessage>,
    /// True if the corpus has more than one file.
    #[prost(bool, tag = "3")]
    is_one_of_many: bool,
}

/// An [`InputFile`] that is an object.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
struct FileMessage {
    #[prost(message, optional, tag = "1")]
    object: Option<ObjectMessage>,
    #[prost(string, tag = "2")]
    label: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    format: String,
    #[prost(string, tag = "5")]
    compression: String,
    /// Columns, each followed by its value.
    #[prost(string, repeated, tag = "6")]
    labels: Vec<String>,
}

/// The [`Options`] that decide what is read.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
struct ReadingMessage {
    #[prost(string, optional, tag = "1")]
    text_column: Option<String>,
    #[prost(bool, tag = "2")]
    text_is_optional: bool,
    #[prost(string, optional, tag = "3")]
    id_column: Option<String>,
    #[prost(uint64, tag = "4")]
    max_record_bytes: u64,
    #[prost(uint64, tag = "5")]
    max_ratio: u64,
    #[prost(string, optional, tag = "6")]
    encoding: Option<String>,
    #[prost(uint32, optional, tag = "7")]
    delimiter: Option<u32>,
    #[prost(uint32, optional, tag = "8")]
    escape: Option<u32>,
    #[prost(string, tag = "9")]
    sentence_language: String,
    #[prost(bool, tag = "10")]
    skips_bad_records: bool,
    #[prost(int64, repeated, tag = "11")]
    namespaces: Vec<i64>,
    #[prost(bool, tag = "12")]
    skip_redirects: bool,
    #[prost(bool, tag = "13")]
    skip_disambiguation: bool,
    #[prost(bool, tag = "14")]
    drops_boilerplate: bool,
}

impl ReadingMessage {
    fn new(options: &Options) -> Self {
        // Each file has its own format, and the memory is that of the machine that reads.
        let Options {
            text_column,
            text_is_optional,
            id_column,
            format: _,
            max_record_bytes,
            max_ratio,
            encoding,
            fields,
            sentence_language,
            memory: _,
            on_error,
            pages,
            boilerplate,
            reads_stdin: _,
            results: _,
        } = options.clone();
        Self {
            text_column,
            text_is_optional,
            id_column,
            max_record_bytes: max_record_bytes as u64,
            max_ratio,
            encoding: encoding.map(|encoding| encoding.name().to_owned()),
            delimiter: fields.delimiter.map(u32::from),
            escape: fields.escape.map(u32::from),
            sentence_language: sentence_language.code().to_owned(),
            skips_bad_records: on_error != OnError::Fail,
            namespaces: pages.namespaces,
            skip_redirects: pages.skip_redirects,
            skip_disambiguation: pages.skip_disambiguation,
            drops_boilerplate: boilerplate == Boilerplate::Drop,
        }
    }

    fn options(self) -> Result<Options> {
        let encoding = |name: String| Encoding::for_label(name.as_bytes()).with_context(|| format!("{name:?}"));
        let byte = |byte: u32| u8::try_from(byte).context("a sign of CSV");
        Ok(Options {
            text_column: self.text_column,
            text_is_optional: self.text_is_optional,
            id_column: self.id_column,
            max_record_bytes: usize::try_from(self.max_record_bytes)?,
            max_ratio: self.max_ratio,
            encoding: self.encoding.map(encoding).transpose()?,
            fields: Fields {
                delimiter: self.delimiter.map(byte).transpose()?,
                escape: self.escape.map(byte).transpose()?,
            },
            sentence_language: LanguageChoice::of(&self.sentence_language)?,
            on_error: if self.skips_bad_records { OnError::Skip } else { OnError::Fail },
            pages: PageFilter {
                namespaces: self.namespaces,
                skip_redirects: self.skip_redirects,
                skip_disambiguation: self.skip_disambiguation,
            },
            boilerplate: if self.drops_boilerplate { Boilerplate::Drop } else { Boilerplate::Keep },
            ..Options::default()
        })
    }
}

impl FileMessage {
    /// Returns the message of a file that all machines can reach, `None` for other files.
    fn new(file: &InputFile) -> Option<Self> {
        let object = file.object.as_ref().filter(|object| !object.location.has_key())?;
        Some(Self {
            object: Some(object.into()),
            label: file.label.clone(),
            name: file.name.clone(),
            format: format!("{:?}", file.format).to_lowercase(),
            compression: file.compression.extension().to_owned(),
            labels: file.labels.iter().flat_map(|(column, value)| [column.clone(), value.clone()]).collect(),
        })
    }

    fn file(self, options: &Options, stores: &Arc<Stores>) -> Result<InputFile> {
        let object = self.object.context("a file that is no object")?;
        let pairs = self.labels.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(InputFile {
            path: PathBuf::from(&self.label),
            label: self.label,
            name: self.name,
            format: Format::from_name(&self.format).with_context(|| format!("the format {:?}", self.format))?,
            compression: Compression::of_extension(&self.compression).unwrap_or(Compression::Plain),
            decoding: options.decoding(),
            object: Some(Object::of_message(object, stores)?),
            labels: pairs.collect(),
        })
    }
}

impl Portion {
    /// Opens the files of the portion, within `memory` if that is a limit.
    pub(crate) fn open(self, memory: Option<usize>, stores: &Arc<Stores>) -> Result<Documents> {
        let options = Options { memory, ..self.reading.context("files without options")?.options()? };
        let files = self.files.into_iter().map(|file| file.file(&options, stores)).collect::<Result<_>>()?;
        let selection = Selection { files, is_portion: self.is_one_of_many, ..Selection::default() };
        Ok(open_selection(selection, &options)?)
    }

    /// Returns the files of this portion and those of another one.
    pub(crate) fn with(mut self, other: Self) -> Self {
        self.files.extend(other.files);
        self
    }
}

impl Selection {
    /// Distributes the files over portions, in their order: at least `least` portions, if there are enough files.
    /// Returns `None` if only this process can read some of the files: files of this machine, copies of members of
    /// archives, and objects with a key in their address.
    pub(crate) fn portions(&self, options: &Options, least: usize) -> Option<Vec<Portion>> {
        let files = self.files.iter().map(FileMessage::new).collect::<Option<Vec<_>>>()?;
        let size = |file: &InputFile| OF_FILE + file.object.as_ref().map_or(0, |object| object.size);
        let sizes: Vec<_> = self.files.iter().map(size).collect();
        let all: u64 = sizes.iter().sum();
        let number = usize::try_from(all / BYTES).unwrap_or(MOST).clamp(1, MOST).max(least);
        let each = (all / number as u64).max(1);
        let reading = ReadingMessage::new(options);
        let empty = Portion { files: Vec::new(), reading: Some(reading), is_one_of_many: files.len() > 1 };
        let mut portions: Vec<Portion> = Vec::new();
        let mut before = 0;
        let mut last = None;
        for (file, size) in files.into_iter().zip(sizes) {
            // A file belongs to the portion that its first byte falls into.
            let place = before / each;
            if last != Some(place) {
                portions.push(empty.clone());
                last = Some(place);
            }
            if let Some(portion) = portions.last_mut() {
                portion.files.push(file);
            }
            before += size;
        }
        Some(portions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(key: &str, size: u64, stores: &Arc<Stores>) -> InputFile {
        InputFile {
            path: PathBuf::from(key),
            label: key.to_owned(),
            name: key.rsplit('/').next().unwrap().to_owned(),
            format: Format::Jsonl,
            compression: Compression::Zstd,
            object: Some(Object::of_size(key, size, stores)),
            labels: vec![("split".to_owned(), "train".to_owned())],
            ..InputFile::stdin(Format::Jsonl)
        }
    }

    fn selection(sizes: &[u64], stores: &Arc<Stores>) -> Selection {
        let files = sizes.iter().enumerate();
        let files = files.map(|(at, size)| object(&format!("s3://box/a b%20/{at:02}.jsonl.zst"), *size, stores));
        Selection { files: files.collect(), ..Selection::default() }
    }

    #[test]
    fn files_and_options_are_told_as_they_are() {
        let stores = Arc::default();
        let options = Options {
            text_column: Some("body".to_owned()),
            id_column: Some(String::new()),
            encoding: Encoding::for_label(b"latin1"),
            fields: Fields { delimiter: Some(b'|'), escape: None },
            sentence_language: LanguageChoice::of("de").unwrap(),
            on_error: OnError::Skip,
            pages: PageFilter { namespaces: vec![0, -1], skip_redirects: true, skip_disambiguation: false },
            boilerplate: Boilerplate::Drop,
            max_record_bytes: 1 << 20,
            ..Options::default()
        };
        let selection = selection(&[10, 20, 30], &stores);
        let portions = selection.portions(&options, 1).unwrap();
        let told = Portion::decode(portions[0].encode_to_vec().as_slice()).unwrap();
        assert!(told.is_one_of_many);
        let read = told.reading.unwrap().options().unwrap();
        assert_eq!(read, options);
        let decoded = |file: InputFile| InputFile { decoding: options.decoding(), ..file };
        let files: Vec<_> = told.files.into_iter().map(|file| file.file(&read, &stores).unwrap()).collect();
        assert_eq!(files, selection.files.into_iter().map(decoded).collect::<Vec<_>>());
    }

    #[test]
    fn files_are_dealt_out_in_their_order() {
        let stores = Arc::default();
        let dealt = |sizes: &[u64], least| {
            let portions = selection(sizes, &stores).portions(&Options::default(), least).unwrap();
            portions.iter().map(|portion| portion.files.len()).collect::<Vec<_>>()
        };
        assert_eq!(dealt(&[1, 1, 1, 1, 1, 1], 3), [2, 2, 2]);
        assert_eq!(dealt(&[100_000, 1, 1], 2), [1, 2]);
        assert_eq!(dealt(&[5], 16), [1]);
        assert_eq!(dealt(&[0, 0, 0], 2), [2, 1]);
        assert_eq!(dealt(&[BYTES, BYTES, BYTES, BYTES], 1), [1, 1, 1, 1]);
        assert_eq!(dealt(&vec![BYTES; 3 * MOST], 1).len(), MOST);
    }

    #[test]
    fn what_others_do_not_reach_is_not_dealt_out() {
        let stores = Arc::default();
        let local = InputFile { object: None, ..object("s3://box/a.jsonl", 1, &stores) };
        let with_key = object("https://name:password@example.org/a.jsonl", 1, &stores);
        for file in [local, with_key] {
            let mut selection = selection(&[1], &stores);
            selection.files.push(file);
            assert_eq!(selection.portions(&Options::default(), 2), None);
        }
    }
}
