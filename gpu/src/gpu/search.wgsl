// All pairs of some queries and some rows whose codes differ in no more bits than their bound.
//
// Before this stand `Code` and `distance` for a width, and `SIZED`: whether bounds depend on sizes.
//
// A thread keeps four rows in registers and meets one query after the other, which the workgroup has loaded together.

struct Params {
    // Where the rows begin in the buffer, and how many there are.
    first_place: u32,
    places: u32,
    // The number of the first row of the buffer, where rows stand in their order.
    first_row: u32,
    queries: u32,
    first_query: u32,
    bound: u32,
    table: u32,
    room: u32,
    // Only rows with these numbers count.
    rows_start: u32,
    rows_end: u32,
}

struct Hits {
    // How many there are, also where there is no room for all of them.
    count: atomic<u32>,
    unused: u32,
    // Query, row.
    pairs: array<vec2<u32>>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<Code>;
@group(0) @binding(2) var<storage, read> queries: array<Code>;
// Size and number.
@group(0) @binding(3) var<storage, read> row_facts: array<vec2<u32>>;
// Size, first row, end of the rows.
@group(0) @binding(4) var<storage, read> query_facts: array<vec4<u32>>;
// The bounds by the sum of sizes, and after them the highest bound up to each sum.
@group(0) @binding(5) var<storage, read> table: array<u32>;
@group(0) @binding(6) var<storage, read_write> hits: Hits;

const THREADS = 256u;
const STAGED = 512u;

var<workgroup> tile: array<Code, THREADS>;
// The bound of each query and the largest row of this workgroup: no row has a higher one.
var<workgroup> highest: array<u32, THREADS>;
var<workgroup> largest_row: atomic<u32>;
var<workgroup> staged: array<vec2<u32>, STAGED>;
var<workgroup> staged_count: atomic<u32>;
var<workgroup> flush_count: u32;
var<workgroup> flush_at: u32;

fn append(at: u32, hit: vec2<u32>) {
    if at < params.room {
        hits.pairs[at] = hit;
    }
}

// Keeps a hit, once its own bound and its rows have been looked at.
fn check(bits: u32, query: u32, place: u32) {
    if place >= params.places {
        return;
    }
    let query_fact = query_facts[query];
    var row = params.first_row + params.first_place + place;
    var bound = params.bound;
    if SIZED {
        let row_fact = row_facts[params.first_place + place];
        row = row_fact.y;
        bound = table[min(query_fact.x + row_fact.x, params.table - 1u)];
    }
    let start = max(query_fact.y, params.rows_start);
    let end = min(query_fact.z, params.rows_end);
    if bits > bound || row < start || row >= end {
        return;
    }
    let hit = vec2(params.first_query + query, row);
    let at = atomicAdd(&staged_count, 1u);
    if at < STAGED {
        staged[at] = hit;
    } else {
        append(atomicAdd(&hits.count, 1u), hit);
    }
}

// Gives what the workgroup has found, with one addition to the counter that all workgroups share.
fn flush(lane: u32) {
    workgroupBarrier();
    if lane == 0u {
        flush_count = min(atomicLoad(&staged_count), STAGED);
        if flush_count > 0u {
            flush_at = atomicAdd(&hits.count, flush_count);
        }
        atomicStore(&staged_count, 0u);
    }
    workgroupBarrier();
    for (var at = lane; at < flush_count; at += THREADS) {
        append(flush_at + at, staged[at]);
    }
}

@compute @workgroup_size(THREADS)
fn search(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let place_a = workgroup.x * THREADS * 4u + lane;
    let place_b = place_a + THREADS;
    let place_c = place_b + THREADS;
    let place_d = place_c + THREADS;
    let last = params.places - 1u;
    let a = rows[params.first_place + min(place_a, last)];
    let b = rows[params.first_place + min(place_b, last)];
    let c = rows[params.first_place + min(place_c, last)];
    let d = rows[params.first_place + min(place_d, last)];
    if SIZED {
        let size_a = row_facts[params.first_place + min(place_a, last)].x;
        let size_b = row_facts[params.first_place + min(place_b, last)].x;
        let size_c = row_facts[params.first_place + min(place_c, last)].x;
        let size_d = row_facts[params.first_place + min(place_d, last)].x;
        atomicMax(&largest_row, max(max(size_a, size_b), max(size_c, size_d)));
        workgroupBarrier();
    }

    let begin = workgroup.y * QUERIES_PER_WORKGROUP;
    let end = min(begin + QUERIES_PER_WORKGROUP, params.queries);
    for (var first = begin; first < end; first += THREADS) {
        let count = min(THREADS, end - first);
        workgroupBarrier();
        if lane < count {
            tile[lane] = queries[first + lane];
            highest[lane] = params.bound;
            if SIZED {
                let sum = query_facts[first + lane].x + atomicLoad(&largest_row);
                highest[lane] = table[params.table + min(sum, params.table - 1u)];
            }
        }
        workgroupBarrier();
        for (var at = 0u; at < count; at++) {
            let query = tile[at];
            let bits_a = distance(query, a);
            let bits_b = distance(query, b);
            let bits_c = distance(query, c);
            let bits_d = distance(query, d);
            if min(min(bits_a, bits_b), min(bits_c, bits_d)) <= highest[at] {
                check(bits_a, first + at, place_a);
                check(bits_b, first + at, place_b);
                check(bits_c, first + at, place_c);
                check(bits_d, first + at, place_d);
            }
        }
        flush(lane);
    }
}
