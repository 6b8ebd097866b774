-- What was not given is known here alone, so that a model shows what somebody wrote.

CREATE OR REPLACE FUNCTION omd_delivery._arrival_terms(
    p_arrival jsonb
)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        jsonb_build_object(
            'folder', '{yyyy}-{MM}-{dd}',
            'zone', 'UTC',
            'ready', jsonb_build_object('marker', '_SUCCESS'),
            'then', 'KEEP',
            'loads', jsonb_build_object(),
            'every', CASE
                WHEN p_arrival ->> 'location' ~ '^(/|file:)' THEN '10 seconds' ELSE '1 minute'
            END
        ) || p_arrival;
END;

COMMENT ON FUNCTION omd_delivery._arrival_terms IS
'Returns p_arrival, which an agreement has, with the defaults of what it does not say; NULL for '
'NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._arrival_terms TO omd_reader;
