-- A dry run does it all and takes it back, so its counts are what would happen. A call in a
-- transaction that is older than a snapshot would not see what others have committed.

CREATE OR REPLACE PROCEDURE omd_provenance.erase(
    p_interface_code text,
    p_entity_code text,
    p_keys jsonb,
    p_reference text,
    p_is_dry_run boolean DEFAULT TRUE,
    p_with_references boolean DEFAULT FALSE,
    INOUT p_erasure_id bigint DEFAULT NULL,
    INOUT p_items jsonb DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $erase$
DECLARE
    v_subject CONSTANT jsonb := omd_provenance._subject(p_interface_code, p_entity_code, p_keys);
    v_items jsonb;
BEGIN
    IF btrim(p_reference) <> '' IS NOT TRUE
        OR p_is_dry_run IS NULL
        OR p_with_references IS NULL
    THEN
        PERFORM omd.raise_error(
            'OM005',
            jsonb_build_object(
                'argument', CASE
                    WHEN p_is_dry_run IS NULL THEN 'p_is_dry_run'
                    WHEN p_with_references IS NULL THEN 'p_with_references'
                    ELSE 'p_reference'
                END
            )
        );
    END IF;
    p_erasure_id := NULL;
    IF p_is_dry_run THEN
        p_items := omd_provenance._try_erase(v_subject, p_with_references, TRUE);
        RETURN;
    END IF;
    v_items := omd_provenance._erase(v_subject, p_with_references, TRUE);
    p_erasure_id := omd_provenance._record_erasure(v_subject, p_reference, v_items);
    p_items := v_items;
END
$erase$;

COMMENT ON PROCEDURE omd_provenance.erase IS
'Erases persons, keys of the entity p_entity_code of the interface p_interface_code, in one '
'transaction: their rows in every layer, of any delivery, also of those who were deleted before; '
'what depends on them; what register_subject has named; their texts in logs; and the statistics. '
'p_keys: an array of keys, each {attribute: value}. p_reference: the request. p_is_dry_run: does '
'it all and takes it back. p_with_references: rows of other entities that refer to them are erased '
'too, with their keys; else they are kept, as persons who refer to them are. Returns p_erasure_id, '
'NULL of a dry run, and p_items, a list of {"layer", "table_code", "outcome", "key_count", '
'"row_count", "text"}. Neither they nor the proof in omd_report.erasures and erasure_items has a '
'key. Tables of users are erased with the rights of the caller; what he can''t do is an item '
'NOT_REACHED, and tables of the lake are PENDING until omd erase --finish. May be NULL: '
'p_erasure_id. Errors: OM005: an argument is NULL, or p_reference blank; '
'OM014: the isolation level is not read committed; OM092: there is no such entity, or p_keys is no '
'list of its keys; OM159: readers of the facts are at work. Locks: the interface in both rooms, '
'its position, against readers; the rows; the tables touched, against DDL. Call again when the '
'answer was lost: what is gone has 0 rows then.';
GRANT EXECUTE ON PROCEDURE omd_provenance.erase TO omd_admin;
