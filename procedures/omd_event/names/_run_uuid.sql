-- Version 7 sorts by time. Its random bits are those of a hash, so the same run has the same id for
-- ever, and another one where an id is used again after a restore, since the start differs. The
-- version 5, which is made for this, needs SHA-1, which no server has.

CREATE OR REPLACE FUNCTION omd_event._run_uuid(
    p_installation_id uuid,
    p_subject_type text,
    p_instance_id bigint,
    p_start_datetime timestamptz
)
RETURNS uuid
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        encode(
            substring(int8send(trunc(extract(EPOCH FROM p_start_datetime) * 1000)::bigint) FROM 3)
            || set_byte(
                set_byte(h.bits, 0, (get_byte(h.bits, 0) & 15) | 112),
                2,
                (get_byte(h.bits, 2) & 63) | 128
            ),
            'hex'
        )::uuid
    FROM (
        SELECT
            substring(
                sha256(
                    convert_to(
                        concat_ws(
                            ' ',
                            p_installation_id,
                            p_subject_type,
                            p_instance_id,
                            (extract(EPOCH FROM p_start_datetime) * 1000000)::bigint
                        ),
                        'UTF8'
                    )
                )
                FROM 1 FOR 10
            ) AS bits
    ) AS h;
END;

COMMENT ON FUNCTION omd_event._run_uuid IS
'Returns the id of a run outside OMD: a UUID of version 7, whose time is p_start_datetime and '
'whose other bits are of the SHA-256 of all parameters. Locks: none.';
