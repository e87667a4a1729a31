//! The program `ibid-cluster`.

#[path = "../../cli/src/allocator.rs"]
mod allocator;

fn main() -> std::process::ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    ibid_cluster::run(&arguments, allocator::give_back).into()
}
