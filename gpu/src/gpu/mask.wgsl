// For each pair of a query and a row whether it is within its bound. Before this stand `Code`, `distance` and `SIZED`.

struct Params {
    pairs: u32,
    // Which queries and rows are in the buffers; pairs of others are left as they are.
    queries_start: u32,
    queries_end: u32,
    rows_start: u32,
    rows_end: u32,
    bound: u32,
    table: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<Code>;
@group(0) @binding(2) var<storage, read> queries: array<Code>;
// Size, and nothing.
@group(0) @binding(3) var<storage, read> row_facts: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> query_facts: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> table: array<u32>;
// Query, row.
@group(0) @binding(6) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> mask: array<u32>;

const THREADS = 256u;

var<workgroup> words: array<atomic<u32>, 8>;

@compute @workgroup_size(THREADS)
fn mask_pairs(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = workgroup.x * THREADS + lane;
    if at < params.pairs {
        let query = pairs[at].x;
        let row = pairs[at].y;
        let here = query >= params.queries_start && query < params.queries_end
            && row >= params.rows_start && row < params.rows_end;
        if here {
            let query_at = query - params.queries_start;
            let row_at = row - params.rows_start;
            var bound = params.bound;
            if SIZED {
                let sum = query_facts[query_at].x + row_facts[row_at].x;
                bound = table[min(sum, params.table - 1u)];
            }
            if distance(queries[query_at], rows[row_at]) <= bound {
                atomicOr(&words[lane / 32u], 1u << (lane % 32u));
            }
        }
    }
    workgroupBarrier();
    let word = workgroup.x * (THREADS / 32u) + lane;
    if lane < THREADS / 32u && word < arrayLength(&mask) {
        mask[word] |= atomicLoad(&words[lane]);
    }
}
