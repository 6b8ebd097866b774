-- V175: what steps read beside their block is not known yet, of the runs until now either.
-- Applied once. omd_lineage.declare_missing looks it up for all runs, and until then what was known
-- counts.

UPDATE omd.module_declaration AS d SET
    inputs = NULL,
    looked_upto = 0,
    looked_datetime = 'infinity'
FROM omd_lineage.topic AS t
WHERE d.module_id = t.module_id AND d.origin = 'ROOM' AND d.upto_id IS NULL;
