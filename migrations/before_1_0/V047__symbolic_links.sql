-- V047: delivery: an agreement may allow symbolic links. What its options are is checked by a
-- function; here it is only told. Applied once.

COMMENT ON COLUMN omd_delivery.agreement.options IS
'The options: allow_symbolic_links, csv, include_existing, max_concurrent_entities, '
'max_sample_size.';
