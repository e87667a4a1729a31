//! The columns of the documents: the text and id columns of each file, and the union of all other columns.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::compute::can_cast_types;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::Options;
use super::problem::Problem;
use super::text_column::TextPlaces;

/// The most columns a corpus may have. More means that keys are data.
pub(crate) const MAX_COLUMNS: usize = 4096;

/// The column that holds the text, where the user names none.
pub(super) const TEXT_COLUMN: &str = "text";

/// The columns that may hold the ids, where the user names none. ibid writes ids as `doc_id`, so its own tables are
/// read back with their ids.
pub(super) const ID_COLUMNS: [&str; 2] = ["doc_id", "id"];

/// The key in the metadata of a field that holds its [`Kind`].
const KIND: &str = "ibid.kind";

/// The type of a column, inferred from its values so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing but NULL.
    Null,
    Bool,
    /// Whole numbers that a float holds exactly.
    Int,
    /// Other whole numbers of 64 bits.
    WideInt,
    Float,
    Text,
    /// Lists and objects of JSON, as text.
    Json,
    /// A type that only Parquet has.
    Other(DataType),
}

impl Kind {
    pub(crate) fn of_type(data_type: &DataType) -> Self {
        match data_type {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool,
            DataType::Int64 => Self::WideInt,
            DataType::Float64 => Self::Float,
            DataType::Utf8 => Self::Text,
            other => Self::Other(other.clone()),
        }
    }

    /// Returns the kind of a column of a table. The metadata of the field may say more than its type.
    pub(crate) fn of_field(field: &Field) -> Self {
        match field.metadata().get(KIND).map(String::as_str) {
            Some("null") => Self::Null,
            Some("int") => Self::Int,
            Some("json") => Self::Json,
            _ => Self::of_type(field.data_type()),
        }
    }

    /// Returns the field with its kind in the metadata, if the type does not imply the kind. Readers of other files
    /// need the kind to combine the columns.
    fn noted_in(&self, field: Field) -> Field {
        let kind = match self {
            Self::Null => "null",
            Self::Int => "int",
            Self::Json => "json",
            _ => return field,
        };
        field.with_metadata([(KIND.to_owned(), kind.to_owned())].into())
    }

    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Self::Null | Self::Text | Self::Json => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Int | Self::WideInt => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Other(data_type) => data_type.clone(),
        }
    }

    /// Returns the kind that a number type of less than 64 bits is widened to. Other kinds stay as they are.
    fn plain(&self) -> Self {
        use DataType::{Float16, Float32, Int8, Int16, Int32, UInt8, UInt16, UInt32};
        match self {
            Self::Other(Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32) => Self::Int,
            Self::Other(Float16 | Float32) => Self::Float,
            kind => kind.clone(),
        }
    }

    /// Returns the kind that holds both without loss: text, if nothing narrower does. `None` if even text does not.
    pub(crate) fn widen(self, other: Self) -> Option<Self> {
        Some(match (self, other) {
            (a, b) if a == b => a,
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (Self::Int, Self::WideInt) | (Self::WideInt, Self::Int) => Self::WideInt,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Self::Float,
            (a, b) if a.plain() != a || b.plain() != b => return a.plain().widen(b.plain()),
            (a, b) => {
                // As text, the list of a and b would equal the list of 'a, b'.
                let as_text = |of: &DataType| !of.is_nested() && can_cast_types(of, &DataType::Utf8);
                return (as_text(&a.data_type()) && as_text(&b.data_type())).then_some(Self::Text);
            }
        })
    }
}

/// The columns of one file, in their order.
#[derive(Debug, Default)]
pub(crate) struct FileColumns {
    names: HashMap<String, usize>,
    kinds: Vec<(String, Kind)>,
    /// The line and byte where the header of the file names the columns, if it has a header.
    pub(crate) place: Option<(u64, u64)>,
}

impl FileColumns {
    /// Adds a value, or a whole column, of this kind. Returns `None` if no kind holds the column (see [`Kind::widen`]),
    /// or if there are too many columns.
    pub(crate) fn add(&mut self, name: &str, kind: Kind) -> Option<()> {
        if let Some(&i) = self.names.get(name) {
            let before = std::mem::replace(&mut self.kinds[i].1, Kind::Null);
            self.kinds[i].1 = before.widen(kind)?;
            return Some(());
        }
        if self.kinds.len() == MAX_COLUMNS {
            return None;
        }
        self.names.insert(name.to_owned(), self.kinds.len());
        self.kinds.push((name.to_owned(), kind));
        Some(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns true if there is room for these columns in addition to those already here.
    pub(crate) fn fit<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> bool {
        let new = names.into_iter().filter(|name| !self.has(name)).count();
        self.kinds.len() + new <= MAX_COLUMNS
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.iter().map(|(name, _)| name.as_str())
    }
}

/// The text column and the id column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    /// The text column. `None` if there is none: the text of all records is then ''.
    pub(crate) text: Option<String>,
    pub(crate) text_is_optional: bool,
    /// The id column. `None` if records are numbered.
    pub(crate) id: Option<String>,
}

impl Roles {
    /// Finds the text column and the id column among `columns` of `file`. With `by_record`, a column that all records
    /// lack is accepted, because the reader then reports each record that lacks it.
    pub(crate) fn find(
        file: &str,
        columns: &FileColumns,
        options: &Options,
        by_record: bool,
    ) -> Result<Self, Box<Problem>> {
        let text_is_optional = options.text_is_optional;
        let name = options.text_column.as_deref().unwrap_or(TEXT_COLUMN);
        let is_wanted = !(text_is_optional && name.is_empty());
        let text = is_wanted.then(|| name.to_owned());
        if columns.is_empty() {
            // No record names any columns. Bad records are reported as such.
            return Ok(Self { text, text_is_optional, id: None });
        }
        let may_lack_it = text_is_optional && options.text_column.is_none();
        let places = TextPlaces::of(name);
        let text_is_within = places.is_within() && places.columns().all(|column| columns.has(column));
        let text = text.filter(|name| columns.has(name) || text_is_within || by_record && !may_lack_it);
        if is_wanted && text.is_none() && !may_lack_it {
            return Err(missing(file, columns, name, "`text_column`"));
        }
        let id = match options.id_column.as_deref() {
            Some("") => None,
            Some(name) if columns.has(name) || by_record => Some(name.to_owned()),
            Some(name) => return Err(missing(file, columns, name, "`id_column`")),
            None => ID_COLUMNS.into_iter().find(|name| columns.has(name)).map(str::to_owned),
        };
        if id.is_some() && id == text {
            let problem = Problem::new(file, format!("the column {name:?} cannot be both the text and the id"));
            return Err(problem.remedy("name another with `text_column` or `id_column`"));
        }
        Ok(Self { text, text_is_optional, id })
    }

    /// Returns true if the column is the text or the id.
    pub(crate) fn takes(&self, name: &str) -> bool {
        [&self.text, &self.id].into_iter().any(|role| role.as_deref() == Some(name))
    }
}

fn missing(file: &str, columns: &FileColumns, wanted: &str, option: &str) -> Box<Problem> {
    const LISTED: usize = 20;
    let names: Vec<_> = columns.names().take(LISTED).collect();
    let more = if columns.kinds.len() > LISTED { ", …" } else { "" };
    let closest = columns
        .names()
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &wanted.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|(a, _), (b, _)| a.total_cmp(b));
    let name_it = closest.map_or("name".to_owned(), |(_, name)| format!("did you mean {name:?}? Name"));
    let reason = format!("it has no column {wanted:?}; its columns are {}{more}", names.join(", "));
    let problem = Problem::new(file, reason)
        .remedy(format!("{name_it} the column with {option}, or leave such files out with `on_error = skip`"));
    match columns.place {
        Some((line, byte)) => problem.at_line(line).at_byte(byte),
        None => problem,
    }
}

/// The columns of all documents: `doc_id`, `text`, then the files' other columns, each in its order of appearance.
///
/// A column of the files that is called `doc_id` or `text`, but is not the id or the text, becomes `original_doc_id` or
/// `original_text`.
#[derive(Debug, Default)]
pub(crate) struct Union {
    columns: FileColumns,
    /// The first file that has each column, for errors.
    origins: Vec<String>,
    /// The names of all columns of the files in order of appearance, including the text and id columns.
    given: Vec<String>,
    known: HashSet<String>,
    /// The roles of the first file that has an id, or of the last file if none has one, and the kind of the ids.
    roles: Option<Roles>,
    ids: Option<Kind>,
}

/// A column of the documents, as the user's files have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserColumn {
    /// Its name among the documents.
    pub(crate) name: String,
    /// Its name in the files.
    pub(crate) given: String,
    /// The type of the ids in the files, for the id column. Among the documents, ids are text.
    pub(crate) id_type: Option<DataType>,
    /// True if the files have lists and objects of JSON. Among the documents, they are text.
    pub(crate) is_json: bool,
}

impl Union {
    /// Adds the columns of `file` that have no role. If one of them cannot be held, adds none of them and fails.
    pub(crate) fn add(&mut self, file: &str, columns: &FileColumns, roles: &Roles) -> Result<(), Box<Problem>> {
        let others = || columns.kinds.iter().filter(|(name, _)| !roles.takes(name));
        if !self.columns.fit(others().map(|(name, _)| name)) {
            let remedy = "read the files apart, or leave such files out with `on_error = skip`";
            return Err(too_many(file, "with the files before it, there are", remedy));
        }
        for (name, kind) in others() {
            let Some(&i) = self.columns.names.get(name) else { continue };
            let before = &self.columns.kinds[i].1;
            if before.clone().widen(kind.clone()).is_none() {
                let (before, now, first) = (before.data_type(), kind.data_type(), &self.origins[i]);
                let reason = format!("the column {name:?} is {now}, and {before} in {first}, and no type holds both");
                return Err(Problem::new(file, reason).remedy("read the files apart, or give the column one type"));
            }
        }
        for (name, kind) in others() {
            if !self.columns.has(name) {
                self.origins.push(file.to_owned());
            }
            // This does not fail: there is room, and a type that holds both.
            let _ = self.columns.add(name, kind.clone());
        }
        for (name, kind) in &columns.kinds {
            if !self.known.contains(name) {
                self.known.insert(name.clone());
                self.given.push(name.clone());
            }
            if roles.id.as_ref() == Some(name) {
                let before = self.ids.take().unwrap_or(Kind::Null);
                self.ids = Some(before.widen(kind.clone()).unwrap_or(Kind::Text));
            }
        }
        if !columns.is_empty() && self.roles.as_ref().is_none_or(|roles| roles.id.is_none()) {
            self.roles = Some(roles.clone());
        }
        Ok(())
    }

    /// Returns the schema, the index of each user column in it, and the columns in the user's order. An id that the
    /// files do not have comes first. An id or a text that is not a column of the files has the name `doc_id` or `text`
    /// unless another column has it; then it begins with `new_`. If the files are a portion of all files, the schema has
    /// the metadata that is needed to combine it with the schemas of other portions.
    pub(crate) fn finish(self, is_portion: bool) -> (SchemaRef, HashMap<String, usize>, Vec<UserColumn>) {
        let mut fields = vec![Field::new("doc_id", DataType::Utf8, false), Field::new("text", DataType::Utf8, false)];
        let mut indices = HashMap::new();
        for (name, kind) in &self.columns.kinds {
            let mut shown = name.clone();
            while matches!(shown.as_str(), "doc_id" | "text") || (shown != *name && self.columns.has(&shown)) {
                shown.insert_str(0, "original_");
            }
            indices.insert(name.clone(), fields.len());
            let field = Field::new(shown, kind.data_type(), true);
            fields.push(if is_portion { kind.noted_in(field) } else { field });
        }
        let roles = self.roles.unwrap_or(Roles { text: None, text_is_optional: false, id: None });
        let id_type = self.ids.map(|kind| kind.data_type());
        let column = |given: String| {
            let (name, id_type, is_json) = match &given {
                text if Some(text) == roles.text.as_ref() => ("text".to_owned(), None, false),
                id if Some(id) == roles.id.as_ref() => ("doc_id".to_owned(), id_type.clone(), false),
                other => {
                    let index = *indices.get(other)?;
                    // The first two fields are the id and the text.
                    (fields[index].name().clone(), None, self.columns.kinds[index - 2].1 == Kind::Json)
                }
            };
            Some(UserColumn { name, given, id_type, is_json })
        };
        let mut user: Vec<_> = self.given.into_iter().filter_map(column).collect();
        for (at, name) in ["doc_id", "text"].into_iter().enumerate() {
            if user.iter().all(|column| column.name != name) {
                let mut given = name.to_owned();
                while user.iter().any(|column| column.given == given) {
                    given.insert_str(0, "new_");
                }
                let column = UserColumn { name: name.to_owned(), given, id_type: None, is_json: false };
                user.insert(at.min(user.len()), column);
            }
        }
        (Arc::new(Schema::new(fields)), indices, user)
    }
}

/// Returns the problem of more than 4,096 columns or keys.
pub(crate) fn too_many(file: &str, what: &str, remedy: &str) -> Box<Problem> {
    Problem::new(file, format!("{what} more than {MAX_COLUMNS} columns")).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(given: &[(&str, Kind)]) -> FileColumns {
        let mut columns = FileColumns::default();
        for (name, kind) in given {
            columns.add(name, kind.clone()).unwrap();
        }
        columns
    }

    fn options(text: Option<&str>, id: Option<&str>) -> Options {
        Options { text_column: text.map(str::to_owned), id_column: id.map(str::to_owned), ..Options::default() }
    }

    fn schema(files: &[FileColumns], text: Option<&str>, id: Option<&str>) -> Vec<(String, DataType)> {
        let mut union = Union::default();
        for file in files {
            let roles = Roles::find("f", file, &options(text, id), false).unwrap();
            union.add("f", file, &roles).unwrap();
        }
        union.finish(false).0.fields().iter().map(|f| (f.name().clone(), f.data_type().clone())).collect()
    }

    #[test]
    fn kinds_widen_without_loss() {
        use Kind::{Bool, Float, Int, Json, Null, Other, Text, WideInt};
        for (a, b, both) in [
            (Null, Int, Some(Int)),
            (Int, Float, Some(Float)),
            (Int, WideInt, Some(WideInt)),
            (WideInt, Float, Some(Text)),
            (Bool, Int, Some(Text)),
            (Json, Json, Some(Json)),
            (Null, Json, Some(Json)),
            (Json, Text, Some(Text)),
            (Int, Json, Some(Text)),
            (Other(DataType::Date32), Text, Some(Text)),
            (Other(DataType::Int32), WideInt, Some(WideInt)),
            (Other(DataType::Int32), Other(DataType::Float32), Some(Float)),
            (Other(DataType::UInt64), WideInt, Some(Text)),
            (Other(DataType::Date32), Other(DataType::Date32), Some(Other(DataType::Date32))),
            (Other(DataType::new_list(DataType::Int8, true)), Other(DataType::Struct(Default::default())), None),
            (Other(DataType::new_list(DataType::Utf8, true)), Text, None),
        ] {
            assert_eq!(a.clone().widen(b.clone()), both, "{a:?} {b:?}");
            assert_eq!(b.clone().widen(a.clone()), both, "{b:?} {a:?}");
        }
    }

    #[test]
    fn the_union_keeps_order_and_drops_roles() {
        let a = columns(&[("id", Kind::Int), ("text", Kind::Text), ("n", Kind::Int)]);
        let b = columns(&[("text", Kind::Text), ("m", Kind::Bool), ("n", Kind::Float)]);
        let expected =
            [("doc_id", DataType::Utf8), ("text", DataType::Utf8), ("n", DataType::Float64), ("m", DataType::Boolean)];
        assert_eq!(schema(&[a, b], None, None), expected.map(|(n, t)| (n.to_owned(), t)));
    }

    #[test]
    fn as_many_columns_as_there_may_be_are_all_of_the_user() {
        let mut union = Union::default();
        let columns = |names: &[String]| {
            let mut columns = FileColumns::default();
            names.iter().for_each(|name| columns.add(name, Kind::Int).unwrap());
            columns
        };
        let others: Vec<_> = (0..MAX_COLUMNS).map(|n| format!("c{n}")).collect();
        for part in [&others[..MAX_COLUMNS - 2], &others[MAX_COLUMNS - 2..]] {
            let file = columns(&[part, &["id".to_owned(), "text".to_owned()]].concat());
            let roles = Roles::find("f", &file, &options(None, None), false).unwrap();
            union.add("f", &file, &roles).unwrap();
        }
        let (schema, _, user) = union.finish(false);
        assert_eq!(user.len(), schema.fields().len());
        let ids: Vec<_> = user.iter().filter(|column| column.id_type.is_some()).collect();
        let (name, given, id_type) = ("doc_id".to_owned(), "id".to_owned(), Some(DataType::Int64));
        assert_eq!(ids, [&UserColumn { name, given, id_type, is_json: false }]);
    }

    /// Its text ids once made texts of the whole-number ids of the files that are read.
    #[test]
    fn a_file_that_is_left_out_changes_no_column() {
        let list = Kind::Other(DataType::new_list(DataType::Int8, true));
        let read = columns(&[("id", Kind::Int), ("text", Kind::Text), ("n", Kind::Int)]);
        let left_out = columns(&[("id", Kind::Text), ("text", Kind::Text), ("n", list), ("m", Kind::Int)]);
        let mut union = Union::default();
        for (file, fits) in [(&read, true), (&left_out, false), (&read, true)] {
            let roles = Roles::find("f", file, &options(None, None), false).unwrap();
            assert_eq!(union.add("f", file, &roles).is_ok(), fits);
        }
        let (_, _, user) = union.finish(false);
        let found: Vec<_> = user.iter().map(|column| (column.given.as_str(), column.id_type.clone())).collect();
        assert_eq!(found, [("id", Some(DataType::Int64)), ("text", None), ("n", None)]);
    }

    #[test]
    fn names_that_we_need_are_given_way() {
        let file = columns(&[
            ("doc_id", Kind::Text),
            ("key", Kind::Text),
            ("text", Kind::Text),
            ("body", Kind::Text),
            ("original_text", Kind::Text),
        ]);
        let names: Vec<_> = schema(&[file], Some("body"), Some("key")).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["doc_id", "text", "original_doc_id", "original_original_text", "original_text"]);
    }

    #[test]
    fn doc_id_comes_before_id_and_the_empty_name_numbers() {
        let file = columns(&[("id", Kind::Text), ("doc_id", Kind::Text), ("text", Kind::Text)]);
        let id = |option| Roles::find("f", &file, &options(None, option), false).unwrap().id;
        assert_eq!(id(None).as_deref(), Some("doc_id"));
        assert_eq!(id(Some("id")).as_deref(), Some("id"));
        assert_eq!(id(Some("")), None);
    }

    #[test]
    fn a_missing_column_lists_what_is_there() {
        let file = columns(&[("ID", Kind::Text), ("Text", Kind::Text)]);
        let error = Roles::find("a.csv", &file, &Options::default(), false).unwrap_err().to_string();
        assert_eq!(
            error,
            "a.csv: it has no column \"text\"; its columns are ID, Text; did you mean \"Text\"? Name the column with \
             `text_column`, or leave such files out with `on_error = skip`"
        );
        let error = Roles::find("a.csv", &file, &options(Some("Text"), Some("key")), false).unwrap_err().to_string();
        assert!(error.contains("its columns are ID, Text; name the column with `id_column`, or leave"), "{error}");
    }

    #[test]
    fn one_column_cannot_be_text_and_id() {
        let file = columns(&[("text", Kind::Text)]);
        assert!(Roles::find("f", &file, &options(None, Some("text")), false).unwrap_err().to_string().contains("both"));
    }
}
