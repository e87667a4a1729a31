//! The examples of the documentation: every example of every function gives the output printed below it.

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::logical_expr::Documentation;

/// Returns every function of ibid with its documentation.
fn documented() -> Vec<(String, Documentation)> {
    let scalar = ibid::scalar_functions();
    let aggregate = ibid_udfs::aggregate_functions();
    let window = ibid_udfs::window_functions(&ibid_udfs::unlimited());
    let all = scalar
        .iter()
        .map(|f| (f.name(), f.documentation()))
        .chain(aggregate.iter().map(|f| (f.name(), f.documentation())))
        .chain(window.iter().map(|f| (f.name(), f.documentation())));
    all.map(|(name, doc)| (name.to_string(), doc.unwrap_or_else(|| panic!("{name} has no documentation")).clone()))
        .collect()
}

#[tokio::test]
async fn every_example_prints_what_it_says() {
    for (name, doc) in documented() {
        let example = doc.sql_example.unwrap_or_else(|| panic!("{name} has no example"));
        let body = example.trim().strip_prefix("```sql\n").and_then(|s| s.strip_suffix("\n```")).unwrap();
        let (sql, expected) = body.split_once(";\n").unwrap_or_else(|| panic!("{name}: no output after the query"));
        let session = ibid::session(Default::default(), Default::default()).unwrap();
        let sql = sql.trim_start_matches("> ");
        let batches = match session.sql(sql).await {
            Ok(frame) => frame.collect().await,
            Err(error) => Err(error),
        }
        .unwrap_or_else(|error| panic!("{name}: {sql}\n{error}"));
        let printed = pretty_format_batches(&batches).unwrap().to_string();
        assert_eq!(printed, expected, "\n{name}: {sql}\n{printed}");
    }
}
