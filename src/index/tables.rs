//! The parts of an index as one table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::datasource::file_format::options::{ParquetReadOptions, ReadOptions};
use datafusion::datasource::file_format::parquet::transform_schema_to_view;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SessionState;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use super::Index;
use crate::corpus::Kind;
use crate::pipeline::query::Literal;
use crate::store::{Address, Source, Stores};

impl Index {
    /// Returns a table of all parts. A column that not all parts have is NULL in the others. A column of several types
    /// gets the type that holds all values, text at worst. The files should be sound, see [`Self::check`].
    pub(crate) fn table(&self, table: &str, session: &SessionState) -> Result<ListingTable> {
        let files = self.files(table);
        let columns = columns(&schemas(&files, &self.stores)?)?;
        let urls = files.iter().map(|file| Ok(ListingTableUrl::try_new(Address::url_of(file, false)?, None)?));
        let options =
            ParquetReadOptions::default().to_listing_options(session.config(), session.default_table_options());
        let listed = ListingTableConfig::new_with_multi_paths(urls.collect::<Result<_>>()?)
            .with_listing_options(options)
            .with_schema(Arc::new(transform_schema_to_view(&columns)));
        Ok(ListingTable::try_new(listed)?)
    }

    /// Returns the same table as a query.
    pub(crate) fn select(&self, table: &str) -> Result<String> {
        let files = self.files(table);
        let schemas = schemas(&files, &self.stores)?;
        let columns = columns(&schemas)?;
        let parts = files.iter().zip(&schemas).map(|(file, schema)| {
            let selected = columns.fields().iter().map(|column| column_of(schema, column));
            let path = Literal::from(file.display().to_string().as_str());
            path.within(&format!("SELECT {} FROM ", Literal::joined(selected, ", ")), "")
        });
        Ok(Literal::joined(parts, "\nUNION ALL\n").to_string())
    }

    /// Fails if a column of the documents of a corpus has no type that holds its values and those of the index.
    pub(crate) fn check_columns(&self, corpus: &Path) -> Result<()> {
        let mut files = self.files("documents");
        files.push(corpus.join("documents.parquet"));
        columns(&schemas(&files, &self.stores)?).map(drop)
    }
}

/// Returns a column of a part as SQL.
fn column_of(part: &Schema, column: &Field) -> Literal {
    let as_type = |value: Literal| value.within("arrow_cast(", &format!(", '{}')", column.data_type()));
    let name = Literal::column(column.name());
    match part.field_with_name(column.name()) {
        Ok(found) if found.data_type() == column.data_type() => name,
        Ok(_) => Literal::joined([as_type(name.clone()), name], " AS "),
        Err(_) => Literal::joined([as_type(Literal::of_text("NULL")), name], " AS "),
    }
}

/// Reads the schemas of files.
fn schemas(files: &[PathBuf], stores: &Arc<Stores>) -> Result<Vec<SchemaRef>> {
    let schema = |path: &PathBuf| -> Result<SchemaRef> {
        let failed = || format!("cannot read {}", path.display());
        let file = Source::open(path, stores).with_context(failed)?;
        let footer = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).with_context(failed)?;
        Ok(Arc::clone(footer.schema()))
    };
    files.iter().map(schema).collect()
}

/// Returns the columns of all schemas, in the order of their first occurrence.
fn columns(schemas: &[SchemaRef]) -> Result<Schema> {
    let mut columns: Vec<(Field, Kind)> = Vec::new();
    for field in schemas.iter().flat_map(|schema| schema.fields()) {
        let kind = Kind::of_field(field);
        let Some((column, before)) = columns.iter_mut().find(|(column, _)| column.name() == field.name()) else {
            let is_everywhere = schemas.iter().all(|schema| schema.field_with_name(field.name()).is_ok());
            let is_nullable = field.is_nullable() || !is_everywhere;
            columns.push((Field::new(field.name(), field.data_type().clone(), is_nullable), kind));
            continue;
        };
        let Some(both) = before.clone().widen(kind) else {
            bail!(
                "the column {:?} is {} in one part of the index and {} in another, and no type holds both; give it the type that it \
                 has in the index, or another name",
                column.name(),
                column.data_type(),
                field.data_type()
            );
        };
        *column = Field::new(field.name(), both.data_type(), column.is_nullable() || field.is_nullable());
        *before = both;
    }
    Ok(Schema::new(columns.into_iter().map(|(column, _)| column).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::DataType;

    use super::*;

    fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
        let field = |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), *name != "doc_id");
        Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
    }

    #[test]
    fn columns_hold_what_all_parts_have() {
        let parts = [
            schema(&[("doc_id", DataType::Utf8), ("n", DataType::Int64)]),
            schema(&[("doc_id", DataType::Utf8), ("more", DataType::Boolean), ("n", DataType::Float64)]),
        ];
        let columns = columns(&parts).unwrap();
        let types: Vec<_> =
            columns.fields().iter().map(|f| (f.name().as_str(), f.data_type(), f.is_nullable())).collect();
        // Not all whole numbers of 64 bits are floats.
        let expected =
            [("doc_id", &DataType::Utf8, false), ("n", &DataType::Utf8, true), ("more", &DataType::Boolean, true)];
        assert_eq!(types, expected);
        let selected =
            |part: usize| columns.fields().iter().map(|c| column_of(&parts[part], c).to_string()).collect::<Vec<_>>();
        assert_eq!(
            selected(0),
            ["\"doc_id\"", "arrow_cast(\"n\", 'Utf8') AS \"n\"", "arrow_cast(NULL, 'Boolean') AS \"more\""]
        );
        assert_eq!(selected(1), ["\"doc_id\"", "arrow_cast(\"n\", 'Utf8') AS \"n\"", "\"more\""]);
    }

    #[test]
    fn what_no_type_holds_is_an_error_that_names_the_column() {
        let list = DataType::new_list(DataType::Int8, true);
        let parts = [schema(&[("x", list)]), schema(&[("x", DataType::Struct(Default::default()))])];
        let error = columns(&parts).unwrap_err().to_string();
        assert!(error.contains("the column \"x\" is List(Int8) in one part of the index and Struct"), "{error}");
    }
}
