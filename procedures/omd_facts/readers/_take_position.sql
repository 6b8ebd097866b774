-- Rows that somebody reads at this moment must not go. Those who only add rows do not come here.

CREATE OR REPLACE FUNCTION omd_facts._take_position(
    p_interface_id integer,
    p_wait interval DEFAULT '1 minute'
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_position$
DECLARE
    v_source CONSTANT text := omd_facts._source_code(p_interface_id);
    v_taken record;
BEGIN
    v_taken := omd.take_source(v_source, p_wait);
    IF NOT v_taken.p_is_taken THEN
        PERFORM omd.raise_error(
            'OM159',
            jsonb_build_object(
                'interface_code', substr(v_source, 7),
                'readers', coalesce(v_taken.p_readers, 'a transaction')
            )
        );
    END IF;
END
$take_position$;

COMMENT ON FUNCTION omd_facts._take_position IS
'Takes the position of the interface p_interface_id from all readers until the transaction ends; '
'it waits for p_wait at most. Errors: OM159: readers are at work. Locks: the position, against '
'readers.';
