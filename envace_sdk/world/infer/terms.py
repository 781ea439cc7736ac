"""How search arguments are usually called."""

from __future__ import annotations

from .words import bag

__all__ = [
    "BOUNDS",
    "CURSORS",
    "DIRECTIONS",
    "HIGH",
    "LIMITS",
    "LOW",
    "NEW",
    "OFFSETS",
    "OLD",
    "PAGES",
    "PAGING",
    "SORTS",
    "STRICT",
    "TEXTS",
]

LIMITS = bag(
    "limit page_size per_page max_results count top max first take n num_results results_per_page max_items "
    "batch_size size items_per_page page_limit num max_count number_of_results how_many rows amount maximum "
    "max_records"
)
OFFSETS = bag("offset skip start_index start_at start_from from_index first_result start")
PAGES = bag("page page_number page_no page_num page_index")
CURSORS = bag(
    "cursor page_token next_token next_cursor continuation_token starting_after next_page_token pagination_token "
    "after page_cursor continuation next start_cursor after_cursor token"
)
SORTS = bag(
    "sort sort_by order_by orderby sortby sort_field ordering sort_key order sort_column order_field sorted_by by"
)
DIRECTIONS = bag(
    "direction sort_order sort_dir order sort_direction order_dir order_direction sortorder desc descending "
    "reverse sort_desc reversed ascending asc"
)
TEXTS = bag(
    "query q search text keyword keywords term terms search_term search_query search_text contains phrase pattern "
    "needle filter match matching free_text full_text searchtext querystring query_string find s question prompt"
)
LOW = bag("from since after min minimum gte ge gt above over start starting starts begin earliest newer lower")
HIGH = bag("to until till before max maximum lte le lt below under end ending ends latest older upper through")
STRICT = bag("gt lt above below over under")
OLD = bag("old current from source src original existing")
"""Words before a field's name in an argument that gives the field's present value."""
NEW = bag("new to updated target desired next replacement destination dest dst")
"""Words before a field's name in an argument that gives the field its new value."""
BOUNDS = LOW | HIGH
PAGING = LIMITS | OFFSETS | PAGES | CURSORS | SORTS | DIRECTIONS
