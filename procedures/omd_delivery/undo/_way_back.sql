-- What another room has taken goes back there first. People type it on a shell or in psql.

CREATE OR REPLACE FUNCTION omd_delivery._way_back(
    p_delivery_id bigint
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            'omd call omd_facts.undo --interface-code %s --module-instance-id %s'
            ' --revert-reason ''why''',
            i.interface_code, q.module_instance_id
        )
    FROM omd_delivery.delta_queue AS q
    INNER JOIN omd_delivery.interface AS i ON q.interface_id = i.interface_id
    WHERE q.delivery_id = p_delivery_id AND q.queue_status = 'PERSISTED';
END;

COMMENT ON FUNCTION omd_delivery._way_back IS
'Returns the command that takes the delivery p_delivery_id back from where it was loaded; NULL '
'when it was not. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._way_back TO omd_reader;
