-- The types of constraints. deletes has a rule of its own where nothing is set: none, but 0 for a
-- Full entity without a filter that delivers no row at all.

INSERT INTO omd_delivery.constraint_type (
    constraint_type, stage, actions, default_action, default_threshold, has_setting,
    may_be_disabled
)
VALUES
('columns', 1, '{}', NULL, '0', FALSE, FALSE),
('row_count', 1, '{}', NULL, '0', TRUE, FALSE),
('row_format', 1, '{S}', 'S', '0', TRUE, FALSE),
('datatype', 1, '{S,E}', 'S', '0', TRUE, FALSE),
('mandatory', 1, '{S,N}', 'S', '0', TRUE, TRUE),
('enumeration', 1, '{S,E,N}', 'S', '0', TRUE, TRUE),
('value', 1, '{S,E,N}', 'S', '0', TRUE, TRUE),
('record', 1, '{S,N}', 'S', '0', TRUE, TRUE),
('primary_key', 1, '{S}', 'S', '0', TRUE, FALSE),
('alternate_key', 2, '{S,E}', 'S', '0', TRUE, FALSE),
('parent_exists', 2, '{S,E,N}', 'S', '0', TRUE, TRUE),
('child_exists', 2, '{S,N}', 'S', '0', TRUE, TRUE),
('set', 2, '{S,N}', 'S', '0', TRUE, TRUE),
('context', 2, '{S,N}', 'N', 'none', TRUE, TRUE),
('deletes', 2, '{}', NULL, NULL, TRUE, FALSE)
ON CONFLICT (constraint_type) DO UPDATE SET
    stage = excluded.stage,
    actions = excluded.actions,
    default_action = excluded.default_action,
    default_threshold = excluded.default_threshold,
    has_setting = excluded.has_setting,
    may_be_disabled = excluded.may_be_disabled;
