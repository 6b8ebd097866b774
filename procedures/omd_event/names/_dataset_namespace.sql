-- The default is computed, as a server that is moved may get another port.

CREATE OR REPLACE FUNCTION omd_event._dataset_namespace()
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(s.dataset_namespace, 'postgres://localhost:' || current_setting('port'))
    FROM omd_event.setting AS s;
END;

COMMENT ON FUNCTION omd_event._dataset_namespace IS
'Returns the namespace of the tables of this database in OpenLineage. Locks: none.';
