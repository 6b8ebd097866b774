-- Keys that are removed physically are few, so the statements are put together here.

CREATE OR REPLACE FUNCTION omd_facts._note_erased(
    p_entity_id integer,
    p_acm_id bigint,
    p_was_there boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_erased$
DECLARE
    v_entity record;
    v_statement text;
BEGIN
    FOR v_entity IN
        SELECT e.entity_id, e.interface_id, e.entity_kind,
            omd_facts._change_pieces(e.entity_id) AS pieces
        FROM omd_facts.entity AS e
        WHERE p_entity_id IN (e.entity_id, e.anchor_entity_id) AND e.keeps_changes
        ORDER BY e.entity_id
    LOOP
        IF v_entity.entity_kind <> 'CONTEXT' THEN
            PERFORM omd_facts._note_key(
                v_entity.interface_id, v_entity.entity_id, p_acm_id, p_was_there, FALSE
            );
            CONTINUE;
        END IF;
        v_statement := omd._render(
            $sql$
WITH slice AS (
    SELECT {own_json} AS own_key, o.acm_record_ind <> 'R' AS was_there
    FROM {now} AS o
    WHERE o.acm_id = $1
),

noted AS (
    SELECT count(omd_facts._note_slice($2, {noted_id}, $1, s.own_key, s.was_there, FALSE))
    FROM slice AS s
)

SELECT omd_facts._note_key($2, {noted_id}, $1, bool_or(s.was_there), FALSE)
FROM slice AS s
CROSS JOIN noted
HAVING count(*) > 0$sql$,
            v_entity.pieces
        );
        EXECUTE v_statement USING p_acm_id, v_entity.interface_id;
    END LOOP;
END
$note_erased$;

COMMENT ON FUNCTION omd_facts._note_erased IS
'Notes that the writer at work removes the key p_acm_id of the entity p_entity_id, which existed '
'or not (p_was_there), and the rows of its contexts that are entities. Call it before. Locks: the '
'entries.';
