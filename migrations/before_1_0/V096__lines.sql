-- V096: delivery, fifth part: an agreement may keep file and line of its rows. The columns are made
-- with the first agreement of an interface that does. Applied once.

COMMENT ON COLUMN omd_delivery.agreement.options IS
'The options: allow_symbolic_links, csv, export, include_existing, lines, max_concurrent_entities, '
'max_sample_size.';
