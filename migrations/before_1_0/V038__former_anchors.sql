-- V038: what an undo can't tell from the contexts: how a key that was removed physically was before
-- it came back; and names of indexes that no table can have. Applied once.

ALTER TABLE omd_facts.entity ADD COLUMN has_removals boolean NOT NULL DEFAULT FALSE;
COMMENT ON COLUMN omd_facts.entity.has_removals IS
'Keys of its anchor have been removed physically.';

ALTER TABLE omd_facts.load_log ADD COLUMN former_anchors jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN omd_facts.load_log.former_anchors IS
'Anchors that had been removed physically, as they were before it: per entity and acm_id the '
'latest start, the last creation, and who removed it.';

DO $do$
DECLARE
    v_index record;
BEGIN
    FOR v_index IN
        SELECT n.nspname, x.relname
        FROM omd_facts.interface AS i
        INNER JOIN pg_namespace AS n ON n.nspname = 'cfl_' || i.interface_code
        INNER JOIN pg_class AS t ON n.oid = t.relnamespace
        INNER JOIN pg_index AS d ON t.oid = d.indrelid
        INNER JOIN pg_class AS x ON d.indexrelid = x.oid
        WHERE starts_with(x.relname, left(regexp_replace(t.relname, '_(now|past)$', ''), 49))
            AND octet_length(x.relname) < 63
    LOOP
        EXECUTE format(
            'ALTER INDEX %I.%I RENAME TO %I',
            v_index.nspname,
            v_index.relname,
            'i' || v_index.relname
        );
    END LOOP;
END
$do$;
