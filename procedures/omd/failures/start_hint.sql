-- What a person wrote comes first; else what the last run said about where it ran. No command line
-- and no environment is in it, since none is recorded.

CREATE OR REPLACE FUNCTION omd.start_hint(
    p_module_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            'Start its job again: '
            || coalesce(
                m.start_hint,
                (
                    SELECT
                        nullif(
                            concat_ws(
                                ', ',
                                'platform ' || (r.context ->> 'platform'),
                                'host ' || (r.context ->> 'host'),
                                'job ' || (r.context ->> 'job')
                            ),
                            ''
                        )
                    FROM omd.last_context(m.module_id) AS r (context)
                )
            ),
            'Start its job again.'
        )
    FROM omd.module AS m
    WHERE
        m.module_id = p_module_id
        AND m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
        AND m.executable IS NULL
        AND m.job IS NULL;
END;

COMMENT ON FUNCTION omd.start_hint IS
'For rooms: Returns how a person starts the Module p_module_id again, where a program outside '
'begins it: the hint that was registered, else platform, host and job of its last run. NULL: no '
'program outside begins it. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.start_hint TO omd_reader;
