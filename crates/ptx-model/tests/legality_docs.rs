//! Tests that the page about the legality table is the one that the table makes.

use std::path::Path;

use ptx_model::legality::render_markdown;

#[test]
fn the_page_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/legality.md");
    let made = render_markdown();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(page.parent().expect("a file has a folder"))
            .expect("docs/ can be written");
        std::fs::write(&page, &made).expect("docs/ can be written");
    }
    let stored = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        stored == made,
        "docs/reference/legality.md is stale; run: BLESS=1 cargo test -p ptx-model --test legality_docs"
    );
}
