use datafusion_expr::Documentation;
use datafusion_macros::user_doc;

use super::Measure;
use super::set_similarity::SetSimilarity;

/// `containment(a, b)`: the share of `a` that is in `b`.
#[user_doc(
    doc_section(label = "Similarities"),
    description = "The containment of the first set in the second, the share of `a` that is in `b`: |a ∩ b| / |a| (Broder \
                   1997). It is 1 where `b` contains all of `a`, and not symmetric: `containment(b, a)` is the share of `b` \
                   that is in `a`.\n\n\
                   Returns Float64 from 0 to 1; NULL where either set is NULL or the first is empty. In a join condition \
                   `containment(a.set, b.set) >= t` is planned as a similarity join.",
    syntax_example = "containment(a, b)",
    sql_example = r#"```sql
> SELECT containment([1, 2, 3], [2, 3, 4, 5]) AS containment;
+--------------------+
| containment        |
+--------------------+
| 0.6666666666666666 |
+--------------------+
```"#,
    argument(name = "a", description = "The first set, `List<UInt64>`, as `shingles` gives it."),
    argument(name = "b", description = "The second set.")
)]
struct Containment;

pub(super) fn containment() -> SetSimilarity {
    SetSimilarity::new(Measure::Containment, ["array_containment", "list_containment"])
}

pub(super) fn documentation() -> Option<&'static Documentation> {
    const FUNCTION: &Containment = &Containment;
    FUNCTION.doc()
}
