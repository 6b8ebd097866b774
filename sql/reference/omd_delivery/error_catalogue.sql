-- The errors of delivery. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    'OM030', 'InvalidModel', 'the model has {problem_count} problems; the first: {path}: {problem}',
    'DETAIL lists them all. Mend the document, then deploy it again: CALL '
    'omd_delivery.deploy_model(…, p_dry_run => true);'
),
(
    'OM031', 'UnknownInterface', 'interface "{interface_code}" has no model',
    'SELECT interface_code FROM omd_delivery.interface; or CALL omd_delivery.deploy_model(…);'
),
(
    'OM035', 'UnknownConstraint',
    'interface "{interface_code}" has no constraints {constraint_codes}',
    'SELECT constraint_code FROM omd_delivery.model_constraint WHERE NOT is_retired;'
),
(
    'OM042', 'ImpossibleSetting', '{path}: {problem}',
    'DETAIL lists all impossible settings. SELECT * FROM omd_delivery.constraint_type;'
),
(
    'OM136', 'InUse', '{object} is in use: {used_by}',
    'Wait for it, or end it: SELECT * FROM omd_report.current_processing;'
),
(
    'OM230', 'ModelLosesRows',
    'interface "{interface_code}" has rows that the model would lose or reinterpret: {object}: '
    '{change}',
    'DETAIL lists all such changes. Keep what is no longer delivered with retired: true; give what '
    'is another thing now another name.'
),
(
    'OM231', 'AlternateKeyBroken',
    'current rows of "{entity_code}" break the alternate key "{alternate_key_code}" '
    '{attribute_codes}',
    'Deliver the rows without the duplicates, then deploy again.'
),
(
    'OM233', 'SchemaTaken', 'the schema "{schema_name}" belongs to somebody else',
    'Rename the schema, or give the interface another code.'
),
(
    'OM234', 'SchemaNotCreated',
    'omd_owner may not create the schema "{schema_name}" in the database "{database_name}"',
    'GRANT CREATE ON DATABASE {database_ident} TO omd_owner; a database that was copied or '
    'restored may lack it. omd install grants it too.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
