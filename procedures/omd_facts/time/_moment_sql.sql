-- Without a moment of the session, that of a statement is the traveling now, and what it sees is as
-- of then already: any later moment reads the same, and none needs to be looked up. Inside of a
-- block of changes it is the mark of the entity at its end. A setting that is no moment fails in
-- the cast, as 22007 or 22008. A function of ours could raise an error of OMD, but who reads a view
-- needs the right to execute each function in it: whoever has been granted the view alone could not
-- read it any more.

CREATE OR REPLACE FUNCTION omd_facts._moment_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $moment_sql$
DECLARE
    v_session CONSTANT text :=
        'nullif(current_setting(''omd_facts.as_of'', TRUE), '''')::timestamptz';
    v_moment text;
BEGIN
    SELECT
        format(
            'coalesce((%s #>> ''{marks,%s}'')::timestamptz, %s)',
            omd_facts._block_sql(i.interface_code), p_entity_id, v_session
        )
    INTO v_moment
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id
        AND EXISTS (
            SELECT FROM omd_facts.entity AS k
            WHERE k.interface_id = e.interface_id AND k.keeps_changes
        );
    RETURN '(SELECT ' || omd_facts._bounded_sql(coalesce(v_moment, v_session)) || ')';
END
$moment_sql$;

COMMENT ON FUNCTION omd_facts._moment_sql IS
'Returns the expression of the moment in the as-of view of the entity p_entity_id: the end of the '
'block of changes that the transaction shows, else the moment of the session, else one after all '
'transaction times. Locks: none.';
