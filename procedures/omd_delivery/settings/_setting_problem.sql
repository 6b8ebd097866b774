-- A setting may have the right shape and still be impossible for its constraint. The settings of an
-- agreement are held against the same rules.

CREATE OR REPLACE FUNCTION omd_delivery._setting_problem(
    p_constraint_type text,
    p_empties_needed boolean,
    p_setting jsonb
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
BEGIN ATOMIC
    SELECT
        CASE
            WHEN NOT t.has_setting
                THEN format('a constraint of the type %s takes none', t.constraint_type)
            WHEN p_setting ->> 'action' IS NOT NULL AND p_setting ->> 'action' <> all(t.actions)
                THEN format(
                    'a constraint of the type %s takes %s',
                    t.constraint_type,
                    coalesce(
                        'the actions ' || nullif(array_to_string(t.actions, ', '), ''), 'no action'
                    )
                )
            WHEN p_setting ->> 'action' = 'E' AND p_empties_needed
                THEN 'EMPTY COLUMN would empty a column that is mandatory or in a key'
            WHEN p_setting -> 'enabled' = 'false' AND NOT t.may_be_disabled
                THEN format('a constraint of the type %s can''t be disabled', t.constraint_type)
        END
    FROM omd_delivery.constraint_type AS t
    WHERE t.constraint_type = p_constraint_type;
END;

COMMENT ON FUNCTION omd_delivery._setting_problem IS
'Returns why the setting p_setting is impossible for a constraint of the type p_constraint_type; '
'NULL when it is possible. p_empties_needed: a column of it is mandatory or in a key. Locks: none.';
